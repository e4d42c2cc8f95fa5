"""What words of a command line can become: variables, substitutions and patterns followed as far as the line says.

A field is text in which marks stand for what is not known. Variables are followed without regard to the order of
commands: each may have any value that is assigned anywhere in the line.
"""

from ibstatus.guard.shell_words import ALL_OF, CODE, CUT, DEFAULT, GLOB, HOME, ONE_OF, PIPE, TAME, TEXT, VAR, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.guard.shell_parse import Seq

    State = tuple[str, str, tuple[str, ...]]  # where the shell stands, where it stood before, the stack of pushd
    States = tuple[State, ...]
    Fields = list[str]

UNKNOWN = "\0"  # anything
ANY = "\1"  # a number, a date, a name, or a path below the text in front of it, without `..`
STAR, ONE, SET = "\2", "\3", "\4"  # * ? [ that bash may match with names
GLOBS = {"*": STAR, "?": ONE, "[": SET}
SHOWN = {0: "…", 1: "…", 2: "*", 3: "?", 4: "["}
FILE = "/dev/fd/63"
MOST = 64
MOST_PIECES = 2_000
DEEPEST = 20
LONGEST = 100_000
TAME_NAMES = frozenset(
    (
        "USER", "LOGNAME", "RANDOM", "SRANDOM", "SECONDS", "UID", "EUID", "PPID", "BASHPID", "LINENO", "HOSTNAME",
        "EPOCHSECONDS", "EPOCHREALTIME", "SHLVL", "COLUMNS", "LINES", "OSTYPE", "MACHTYPE", "HOSTTYPE",
        "BASH_VERSION",
    )
)  # fmt: skip


def shown(field: str) -> str:
    return field.translate(SHOWN)


def is_known(field: str) -> bool:
    return UNKNOWN not in field and ANY not in field


class Scope:
    """The variables of one command line. `home`, `scratch`, `project`: what ~, mktemp and the client's one mean."""

    __slots__ = ("assigned", "busy", "home", "project", "scratch", "seen", "todo")

    def __init__(self, home: str, scratch: str, project: str) -> None:
        self.home = home
        self.scratch = scratch
        self.project = project
        self.todo: list[Seq] = []
        self.assigned: dict[str, list[Any]] = {}
        self.busy: set[str] = set()
        self.seen: dict[tuple[str, States], list[Fields]] = {}

    def add(self, seq: "Seq") -> None:
        """A script whose assignments count; it is looked through when somebody asks for a variable."""
        self.todo.append(seq)

    def values_of(self, name: str) -> "list[Any] | None":
        """What is assigned to it: Words, lists of Words, Seqs whose output is read, or None for anything."""
        if self.todo:
            from ibstatus.guard import shell_assignments

            todo, self.todo = self.todo, []
            self.seen.clear()
            shell_assignments.collect(todo, self.assigned)
        return self.assigned.get(name)

    def alternatives(self, word: Word, states: "States") -> "list[Fields]":
        """Every list of fields that the word can become."""
        if word.text is not None:
            return [[word.text]]
        if len(word.pieces) > MOST_PIECES:
            return [[UNKNOWN]]
        made: list[tuple[list[str], str, bool]] = [([], "", False)]
        for kind, value, quoted in word.pieces:
            if kind == TEXT:
                made = [(fields, text + value, True) for fields, text, _ in made]
            elif kind == GLOB:
                made = [(fields, text + GLOBS[value], True) for fields, text, _ in made]
            else:
                options = self.options(kind, value, states)
                if not quoted and kind in (VAR, CODE, CUT, DEFAULT):
                    options = self.split(options)
                made = [joined(one, option, quoted) for one in made for option in options]
                if len(made) > MOST:
                    return [[UNKNOWN]]
        return [[*fields, text] if started else fields for fields, text, started in made]

    def fields(self, words: "list[Word]", states: "States") -> "list[Fields]":
        """Every list of arguments that the words can become; beyond MOST each word varies alone."""
        each = [self.alternatives(word, states) for word in words]
        count = 1
        for options in each:
            count *= len(options)
            if count > MOST:
                break
        if count <= MOST:
            made: list[Fields] = [[]]
            for options in each:
                made = [one + option for one in made for option in options]
            return made
        first = [options[0] for options in each]
        return [
            [field for fields in [*first[:at], option, *first[at + 1 :]] for field in fields]
            for at, options in enumerate(each)
            for option in options
        ]

    def options(self, kind: int, value: "Any", states: "States") -> "list[Fields]":
        """What a piece can become: several fields only where an array stands."""
        if kind == VAR:
            return self.variable(value, states)
        if kind == TAME:
            return [[ANY]]
        if kind == HOME:
            return self.home_of(value, states)
        if kind == PIPE:
            return [[FILE]]
        if kind == CODE:
            from ibstatus.guard import shell_outputs

            return [[text] for text in shell_outputs.of(value, self, states)]
        if kind == CUT:
            from ibstatus.guard import shell_outputs

            name, operator, pattern = value
            return [[shell_outputs.cut(one, operator, pattern.text)] for one in texts(self.variable(name, states))]
        if kind == DEFAULT:
            name, operator, word = value
            return self.default(name, operator, word, states)
        return [[UNKNOWN]]

    def split(self, options: "list[Fields]") -> "list[Fields]":
        """Where IFS is changed, what is split at other places than blanks is not known."""
        separators = self.values_of("IFS")
        if separators is None or all(field in (ANY, UNKNOWN) for field in texts(options)):
            return options
        if all(isinstance(word, Word) and not (word.text or "x").strip() for word in separators):
            return [[field.replace(" ", ANY)] for field in texts(options)] + options
        return [[UNKNOWN]]

    def variable(self, name: str, states: "States") -> "list[Fields]":
        if name == "*" or name.endswith(ALL_OF):
            if self.values_of("IFS") is not None:
                return [[UNKNOWN]]
            name = name.removesuffix(ALL_OF)
        if name.endswith(ONE_OF):
            return [[field] for field in texts(self.variable(name[: -len(ONE_OF)], states))]
        assigned = self.values_of(name)
        if assigned is None:
            return self.known(name, states)
        if (name, states) in self.seen:
            return self.seen[name, states]
        if name in self.busy or len(self.busy) > DEEPEST:
            return [[UNKNOWN]]
        self.busy.add(name)
        try:
            made = self.assigned_values(assigned, states)
        finally:
            self.busy.discard(name)
        if len(made) > MOST or sum(map(len, texts(made))) > LONGEST:
            made = [[UNKNOWN]]
        self.seen[name, states] = made
        return made

    def assigned_values(self, assigned: "list[Any]", states: "States") -> "list[Fields]":
        made: list[Fields] = []
        whole: list[Fields] = [[]]
        for value in assigned:
            if isinstance(value, Word):
                made += self.assigned_text(value, states)
            elif value is None:
                made.append([UNKNOWN])
            elif isinstance(value, tuple) and value[:1] == ("more",):
                made += self.added(made, value, states)
            elif isinstance(value, tuple) and value[:1] == ("each",):
                made += [[field] for field in texts(self.alternatives(value[1], states))]
            elif isinstance(value, tuple):
                options = self.fields(list(value), states)
                made += options
                whole = [one + option for one in whole for option in options][:MOST]
            else:
                from ibstatus.guard import shell_outputs

                made += [[text] for text in shell_outputs.of(value, self, states)]
        return made + [one for one in whole if one and one not in made]

    def added(self, made: "list[Fields]", value: "tuple[str, Word, bool]", states: "States") -> "list[Fields]":
        """x+=text; in a loop again and again, which only what begins with a blank leaves as it is."""
        ends = texts(self.assigned_text(value[1], states))
        if value[2] and not all(end[:1].isspace() or not end for end in ends):
            return [[UNKNOWN]]
        before = texts(made) or [UNKNOWN]
        return (
            [[before_ + end] for before_ in before for end in ends] if len(before) * len(ends) <= MOST else [[UNKNOWN]]
        )

    def assigned_text(self, word: Word, states: "States") -> "list[Fields]":
        """An assignment splits nothing and matches no files."""
        return [[" ".join(fields)] for fields in self.alternatives(word, states)]

    def default(self, name: str, operator: str, word: Word, states: "States") -> "list[Fields]":
        other = self.assigned_text(word, states)
        if operator == "+":
            return [*other, [""]]
        if operator == "?":
            return self.variable(name, states)
        if self.values_of(name) is None and name not in ("HOME", "PWD", "OLDPWD", "TMPDIR", "CLAUDE_PROJECT_DIR"):
            return other  # from the environment, which no agent writes
        return self.variable(name, states) + other

    def known(self, name: str, states: "States") -> "list[Fields]":
        if name == "PWD":
            return [[state[0]] for state in states]
        if name == "OLDPWD":
            return [[state[1] or UNKNOWN] for state in states]
        if name in TAME_NAMES:
            return [[ANY]]
        known = {"HOME": self.home, "TMPDIR": self.scratch, "CLAUDE_PROJECT_DIR": self.project}
        return [[known.get(name) or UNKNOWN]]

    def home_of(self, user: str, states: "States") -> "list[Fields]":
        if user == "+":
            return self.variable("PWD", states)
        if user and user != self.home.rpartition("/")[2]:
            return [[UNKNOWN]]
        return self.variable("HOME", states)


def joined(one: "tuple[list[str], str, bool]", option: "Fields", quoted: bool) -> "tuple[list[str], str, bool]":
    """A piece's fields put behind what there is of the word; unquoted they are split, and their stars are patterns."""
    fields, text, started = one
    if not quoted:
        split: list[str] = []
        for field in option:
            split += parted(field)
        if not split:
            return one
        option = split
    elif not option:
        return one
    if option[0] == "" and len(option) > 1:  # it began with a blank
        return [*fields, *([text] if started else []), *option[1:-1]], option[-1], True
    return (
        [*fields, *([text + option[0]] if len(option) > 1 else []), *option[1:-1]],
        (option[-1] if len(option) > 1 else text + option[0]),
        True,
    )


def parted(field: str) -> list[str]:
    if not any(char in field for char in " \t\n*?["):
        return [field] if field else []
    for char, mark in GLOBS.items():
        field = field.replace(char, mark)
    parts = field.split()
    if field[:1].isspace():
        parts.insert(0, "")
    return parts


def texts(options: "list[Fields]") -> list[str]:
    return [field for fields in options for field in fields]
