"""The commands of a line, judged: is each allowed by a rule, none denied, and does none reach outside.

The first thing that is wrong ends it: Refused says what, and what to type instead.
"""

from ibstatus.guard import file_arguments, globs, wrappers_rules
from ibstatus.guard.isolation import READ, WRITE, Grounds, absolute, short
from ibstatus.guard.permissions import Rules, could_match, path_fits
from ibstatus.guard.shell_flow import MOVES, Course, merged
from ibstatus.guard.shell_values import ANY, UNKNOWN, Scope, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.decide import Policy
    from ibstatus.guard.shell_flow import Disk, Ends
    from ibstatus.guard.shell_parse import Redirect, Script, Simple
    from ibstatus.guard.shell_values import Fields, States

UNPACKERS = ("tar", "bsdtar", "unzip", "patch", "cpio", "7z")
COMPUTED = "{} is computed ({}), so it is not known which file it is. Type the path itself (print it first)"
# What ends a path in code of another language; `repo-x` and `repo.x` are other folders.
ENDS_NAME = "/\"'|,#:;) \n"


class Refused(Exception):
    """`path` is set when a path is the reason, `who` is the command that wanted it."""

    def __init__(self, reason: str, path: str = "", who: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.who = who


class Judged(Course):
    """`computes`: somewhere an expression is computed, which runs what stands in brackets.
    `listed`: a rule has allowed what the commands stand in, as `Bash(bash:*)` does for the text after -c."""

    def __init__(self, policy: "Policy", grounds: Grounds, disk: "Disk") -> None:
        super().__init__(Scope(policy.home, grounds.scratch, grounds.worktree), disk)
        self.policy = policy
        self.grounds = grounds
        self.allow: Rules = policy.allow
        self.deny: Rules = policy.deny
        self.forbidden = {access: policy.deny.paths(access) for access in (READ, WRITE)}
        self.links: set[str] = set()  # that commands before this one make
        self.new_links: set[str] = set()
        self.unpacked = False  # a command before this one brings files from elsewhere
        self.named: set[str] = set()  # those that it names
        self.listed = False
        self.computes = False
        self.depth = 0
        self.done: set[tuple[bool, tuple[str, ...], States]] = set()

    def unsure(self, reason: str) -> None:
        if not (self.policy.yolo or self.lenient):
            raise Refused(reason)

    def enter(self, folder: str, inside: bool) -> None:
        self.path(READ, folder, ((folder, "", ()),), "cd", strict=True)

    # Paths

    def path(self, access: str, field: str, states: "States", who: str, *, whole: bool = False, strict: bool) -> None:
        """`strict`: a path that is not known is refused, and not only one that is known to be wrong."""
        if UNKNOWN in field:
            if strict:
                self.unsure(COMPUTED.format(f"What {who} gets", short(shown(field))))
            field = field[: field.index(UNKNOWN)].rpartition("/")[0]
            if not field:
                return
        for state in states:
            path = absolute(field, state[0], self.scope.home)
            if (strict or ".." in field) and globs.climbs(path):
                self.unsure(COMPUTED.format(f"What {who} gets", short(shown(field))))
            if self.links or (self.unpacked and strict):
                from ibstatus.guard import symlinks

                symlinks.fresh(self, path, who)
            real = globs.expanded(path, self.disk.entries)
            for one in [globs.filled(path), *real]:
                objection = self.grounds.objection(access, one, whole=whole)
                if objection:
                    raise Refused(objection, one, who)
                if self.forbidden[access]:
                    self.by_path_rule(access, one, who)

    def by_path_rule(self, access: str, path: str, who: str) -> None:
        """`Read(.env)` in the deny list holds for `cat .env` too."""
        real = self.grounds.real(path)
        if any(path_fits(rule, real, (self.grounds.worktree, self.grounds.home)) for rule in self.forbidden[access]):
            raise Refused(f"A deny rule keeps {who} from {short(path)}. Do without it, or ask with ib send or ib ask")

    def redirect(self, redirect: "Redirect", states: "States") -> None:
        operator = redirect.operator
        if operator in ("<<", "<<-", "<<<"):
            text = redirect.target.text or ""
            if self.computes and "[" in text and ("$(" in text or "`" in text):
                self.unsure("A text holds a command in brackets, which arithmetic would run. Leave that out")
            return
        for fields in self.scope.alternatives(redirect.target, states):
            target = " ".join(fields)
            if operator in ("<&", ">&") and (target.rstrip("-").isdigit() or target == "-" or target == ANY):
                continue
            if operator in ("<", "<>", "<&"):
                self.path(READ, target, states, "<", strict=True)
            if operator != "<":
                self.path(WRITE, target, states, operator, strict=True)

    # Commands

    def assign_by_name(self, name: str) -> None:
        from ibstatus.guard import environment

        if environment.decides(name) and not environment.may_load(self, name):
            self.unsure(f"{name} changes which programs or rules hold. Leave it out")

    def assign(self, command: "Simple", states: "States") -> None:
        from ibstatus.guard import environment

        environment.judge(self, command.assigns, states)

    def run(self, argv: "Fields", states: "States", command: "Simple") -> "Ends":
        gap = " [" if argv[0] == "git" else "\0"  # in a message no subscript of a name
        if self.computes and any("[" in word.replace(gap, "") and ("$(" in word or "`" in word) for word in argv):
            self.unsure("A word holds a command in brackets, which arithmetic would run. Leave that out")
        key = (self.listed, tuple(argv), states)
        if key in self.done:
            return states, states
        if argv[0] in file_arguments.STRICT and not (self.behind or command.redirects or argv[0] in SPECIAL | MOVES):
            self.done.add(key)
        source = command.source[command.words[0].start : command.end] if command.words else ""
        return self.judge(argv, states, command, [source])

    def judge(self, argv: "Fields", states: "States", command: "Simple", texts: list[str]) -> "Ends":
        """`texts`: the forms in which a rule may name it; programs that run programs add theirs."""
        self.depth += 1
        if self.depth > 20:
            raise Refused("Too many programs run each other here. Run the last one directly")
        try:
            return self.unwrapped(argv, states, command, texts)
        finally:
            self.depth -= 1

    def unwrapped(self, argv: "Fields", states: "States", command: "Simple", texts: list[str]) -> "Ends":
        name = wrappers_rules.base_of(argv[0]).lower()  # some disks find CAT as well
        if UNKNOWN in argv[0] or ANY in argv[0] or globs.is_pattern(argv[0]):
            self.unsure(f"Which program {short(shown(argv[0]))} is, is computed. Type its name")
            return states, states
        text = shown(" ".join(argv))
        texts = [*texts, text]
        if name == "git" and "".join(argv[1:2])[:1] == "-":
            from ibstatus.guard.git_options import bare

            texts.insert(0, " ".join(bare(argv)))
            self.denied(bare(argv), texts)
        self.denied(argv, texts)
        listed = self.listed or self.policy.yolo or self.allow.runs(texts)
        if not listed and wrappers_rules.is_own(argv[0]):
            raise Refused(self.unlisted(text))
        inner = wrappers_rules.inside(argv) if name in wrappers_rules.TABLE else None
        if inner is not None and name != "watch":
            from ibstatus.guard import wrappers as wrapped

            return wrapped.judge(self, name, argv, inner, states, command, texts)
        handled = self.special(name, argv, states, command, listed)
        if handled is not None:
            return handled
        if not listed and not (argv[0] in file_arguments.FREE and self.allow.has_shell):
            raise Refused(self.unlisted(text))
        self.files(name, argv, states)
        if self.new_links or name in UNPACKERS:
            from ibstatus.guard import symlinks

            symlinks.settle(self, name, argv)
        return self.builtin([name, *argv[1:]], states) or (states, states)

    def denied(self, argv: "Fields", texts: list[str]) -> None:
        name = wrappers_rules.base_of(argv[0])
        forms = [*texts, " ".join([name, *argv[1:]])]
        rules = self.deny
        if rules.runs(forms) or any(could_match(rule, [name, *argv[1:]], UNKNOWN) for rule in rules.shell):
            raise Refused(f"A deny rule forbids: {short(texts[-1])}. Do without it, or ask with ib send or ib ask")

    def unlisted(self, text: str) -> str:
        first = text.split(" ")
        if first[0] == "git":
            from ibstatus.guard.git_options import bare

            first = bare(first)
        what = " ".join(first[:2]) if first[0] in ("git", "npm", "cargo", "go", "docker") else first[0]
        return (
            f"No rule allows: {short(text)}. Allowed are the commands in permissions.allow; use one of them, "
            f"or ask for Bash({short(what)}:*) with ib send or ib ask"
        )

    def special(self, name: str, argv: "Fields", states: "States", command: "Simple", listed: bool) -> "Ends | None":
        if name == "git":
            from ibstatus.guard import git_commands

            return git_commands.judge(self, argv, states, listed)
        if name not in SPECIAL and not name.startswith("python"):
            return None
        from ibstatus.guard import builtins

        return builtins.judge(self, name, argv, states, command, listed)

    def files(self, name: str, argv: "Fields", states: "States") -> None:
        """Where its words lead: by what is known of the program, else every word that could be a path."""
        if argv[0] in file_arguments.TEXT_ONLY:
            return
        strict = name in file_arguments.STRICT
        uses = file_arguments.uses(name, argv)
        for access, field, whole in uses:
            self.path(access, field, states, name, whole=whole, strict=strict)
        below = [field for access, field, whole in uses if whole and access == READ]
        if below:
            from ibstatus.guard import symlinks

            symlinks.judge_recursive_readers(self, name, argv, below, states)
        if "/" in argv[0] or argv[0] == "..":
            self.path(READ, argv[0], states, name, strict=True)
        if not strict or "/" in argv[0]:
            for arg in argv[1:]:
                for field in file_arguments.candidates(arg):
                    self.path(READ, field, states, name, whole=name in file_arguments.MOUNTS, strict=False)

    def inline(self, code: str, states: "States", *, listed: bool, who: str) -> "Ends":
        """Shell code in a text: read like the line it stands in."""
        if UNKNOWN in code or ANY in code or globs.is_pattern(code):
            self.unsure(f"The commands that {who} runs are computed. Type them in the line itself")
            return states, states
        from ibstatus.guard import shell_parse
        from ibstatus.guard.shell_words import Unreadable

        if who.lower().endswith(("editor", "visual")):
            from ibstatus.guard.git_options import with_file

            code = with_file(code)
        try:
            script: Script = shell_parse.read(code, self.depth)
        except Unreadable as error:
            self.unsure(f"The commands that {who} runs cannot be read: {error}. Type them in the line itself")
            return states, states
        outer, self.listed = self.listed, self.listed or listed
        self.depth += 1
        if self.depth > 20:
            raise Refused("Too many programs run each other here. Run the last one directly")
        try:
            return merged_ends(self.script(script, states))
        finally:
            self.listed = outer
            self.depth -= 1

    def mentions(self, text: str, who: str) -> None:
        """Code of another language is not read, but a folder that is named in it is seen."""
        worktrees = self.policy.worktree, self.grounds.worktree
        for folder in (self.policy.root, self.policy.agents, self.grounds.root, self.grounds.agents):
            at = text.find(folder) if len(folder) > 1 else -1
            while at >= 0:
                after = text[at + len(folder) :]
                near = f"{text[at : at + 4096]}/"
                own = any(near.startswith(one + end) for one in worktrees for end in ENDS_NAME)
                if not own and not (after[:1].isalnum() or after[:1] in ("-", "_", ".")):
                    end = min([at + len(folder) + 60, *[cut for cut in map(text[at:].find, "\"' \n);") if cut > 0]])
                    raise Refused(
                        f"The code for {who} names {short(text[at : at + end])}, which is not in your worktree "
                        f"{self.grounds.worktree}",
                        folder,
                    )
                at = text.find(folder, at + 1)

    def piped(self, states: "States") -> list[str]:
        """What the program at hand can read on its standard input."""
        if not self.behind:
            return [UNKNOWN]
        from ibstatus.guard import shell_outputs

        return shell_outputs.of([(False, [("", False, self.behind)])], self.scope, states)


def merged_ends(ends: "Ends") -> "Ends":
    return (merged(*ends), ends[1]) if not ends[0] else ends


OWN = frozenset(
    (
        "git", "ib", "eval", "trap", "source", ".", "alias", "find", "fd", "fdfind", "watch", "tar", "bsdtar",
        "rsync", "rg", "sort", "split", "zip", "scp", "man", "script", "su", "flock", "fzf", "npm", "npx", "sed",
        "gsed", "awk", "gawk", "mawk", "nawk", "export", "declare", "typeset", "local", "readonly", "mapfile",
        "readarray", "read", "let", "unset", "printf", "wait", "test", "[", "getopts", "env", "xargs", "exec", "ln",
        "mv", "gmv", "cp", "gcp", "shopt", "set", "setopt", "ed", "ex", "vim", "sqlite3", "psql", "make", "gdb", "m4",
        "bc", "node", "nodejs", "perl", "ruby", "php", "deno", "bun", "lua", "osascript",
    )
)  # fmt: skip
SPECIAL = OWN | wrappers_rules.SHELLS
