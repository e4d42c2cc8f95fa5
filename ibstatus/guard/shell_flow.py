"""A command line followed step by step: where the shell can stand at each command, and what that command is.

A state is (folder, folder before, stack of pushd). After `cd a; …` both states are possible unless the folder is there
for sure; after `cd a && …` one. What a command may do is judged by the class built on this one.
"""

from ibstatus.guard.shell_parse import FOR, FUNCTION, GROUP, IF, LOOP, SUBSHELL, Block, Script, Simple
from ibstatus.guard.shell_values import Scope
from ibstatus.guard.shell_words import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from ibstatus.guard.shell_parse import Pipe, Redirect, Seq
    from ibstatus.guard.shell_values import Fields, State, States

    class Disk(Protocol):
        """What is there now. `resolve` follows every link; OSError or ValueError where that cannot be done."""

        def resolve(self, path: str) -> str: ...
        def is_folder(self, path: str) -> bool: ...
        def entries(self, folder: str) -> list[str]: ...

    Ends = tuple[States, States]  # where the shell can stand after success, and after failure

MOST_STATES = 16
MOST_ROUNDS = 6
LEAVES = frozenset(("exit", "return", "break", "continue"))
# After these a folder that is there now may be gone when a later `cd` comes to it.
MOVES = frozenset(
    ("rm", "rmdir", "mv", "unlink", "chmod", "chown", "find", "git", "ln", "rsync", "tar", "unzip", "env")
)


class Function:
    """`sure`: it is defined whatever happens before its calls; otherwise a program of that name may run."""

    __slots__ = ("called", "seq", "sure")

    def __init__(self, seq: "Seq", sure: bool) -> None:
        self.seq = seq
        self.sure = sure
        self.called = False


class Course:
    """Follows; what it finds is judged by a class built on it."""

    def __init__(self, scope: Scope, disk: "Disk") -> None:
        self.scope = scope
        self.disk = disk
        self.functions: dict[str, Function] = {}
        self.branches = 0
        self.calls = 0
        self.stops_at_errors = False
        self.moved = False
        self.behind: Pipe = []  # what is piped into the command at hand
        self.nested = 0
        self.lenient = False

    # What the class built on this one judges.

    def unsure(self, reason: str) -> None:
        """Something cannot be read."""

    def run(self, argv: "Fields", states: "States", command: Simple) -> "Ends":
        """A program with its arguments, not known as one of the shell's own."""
        return states, states

    def assign(self, command: Simple, states: "States") -> None:
        """The assignments in front of a command."""

    def assign_by_name(self, name: str) -> None:
        """A loop or `read` gives this variable its values."""

    def redirect(self, redirect: "Redirect", states: "States") -> None:
        """A redirection other than of a descriptor."""

    def enter(self, folder: str, inside: bool) -> None:
        """`cd` comes to this folder; `inside`: in a subshell."""

    def script(self, script: Script, states: "States") -> "Ends":
        self.scope.add(script.seq)
        if script.arithmetic:
            from ibstatus.guard import shell_arithmetic

            shell_arithmetic.judge(self, script.sums)
        return self.seq(script.seq, states)

    def seq(self, seq: "Seq", states: "States") -> "Ends":
        ends: Ends = (states, ())
        for background, parts in seq:
            here = ends[0] if self.stops_at_errors else merged(*ends)
            if background:
                self.apart(lambda parts=parts, here=here: self.chain(parts, here or states))  # type: ignore[misc]
                ends = (here, ())
            else:
                done = self.chain(parts, here or states)
                ends = done if here else ((), ())
        return ends

    def chain(self, parts: "list[tuple[str, bool, Pipe]]", states: "States") -> "Ends":
        ok, failed = states, states
        for operator, negated, pipe in parts:
            entry = ok if operator == "&&" else failed
            if operator or negated or len(parts) > 1:
                done = self.branch(lambda pipe=pipe, entry=entry: self.pipe(pipe, entry or states))  # type: ignore[misc]
            else:
                done = self.pipe(pipe, entry or states)
            if negated:
                done = done[1], done[0]
            if not entry:
                done = (), ()
            if not operator:
                ok, failed = done
            elif operator == "&&":
                ok, failed = done[0], merged(failed, done[1])
            else:
                ok, failed = merged(ok, done[0]), done[1]
        return ok, failed

    def pipe(self, pipe: "Pipe", states: "States") -> "Ends":
        if len(pipe) == 1:
            return self.command(pipe[0], states)
        outer = self.behind
        after = states
        for at, command in enumerate(pipe):
            self.behind = pipe[:at]
            after = merged(*self.branch(lambda command=command: self.command(command, states)))  # type: ignore[misc]
        self.behind = outer
        after = merged(states, after)  # zsh runs the last command of a pipe in the shell itself
        return after, after

    def branch(self, walk: "Callable[[], Ends]") -> "Ends":
        """Where it may not come to, or where `set -e` does not stop."""
        outer, self.stops_at_errors = self.stops_at_errors, False
        self.branches += 1
        try:
            return walk()
        finally:
            self.branches -= 1
            self.stops_at_errors = outer

    def apart(self, walk: "Callable[[], Ends]") -> "Ends":
        """In a subshell."""
        self.nested += 1
        try:
            return self.branch(walk)
        finally:
            self.nested -= 1

    def codes(self, words: "Iterable[Word]", states: "States") -> None:
        """What runs while these words are expanded."""
        for word in words:
            for seq in word.codes or ():
                outer, self.behind = self.behind, []
                self.apart(lambda seq=seq: self.seq(seq, states))  # type: ignore[misc]
                self.behind = outer

    def command(self, command: "Simple | Block", states: "States") -> "Ends":
        for redirect in command.redirects:
            self.codes((redirect.target,), states)
            self.redirect(redirect, states)
        if isinstance(command, Simple):
            return self.simple(command, states)
        outer, self.behind = self.behind, self.behind and [command]  # how much of the input is left, nobody knows
        done = self.block(command, states)
        self.behind = outer
        return done

    def simple(self, command: Simple, states: "States") -> "Ends":
        for _, value in command.assigns:
            self.codes((value,) if isinstance(value, Word) else value, states)
        self.codes(command.words, states)
        if command.assigns:
            self.assign(command, states)
        if not command.words:
            return states, ()
        if len(states) > MOST_STATES:
            self.unsure("This line changes folders in too many ways. Use full paths instead of cd")
            states = states[:MOST_STATES]
        ends: Ends = ((), ())
        for argv in self.scope.fields(command.words, states):
            done = self.step(argv, states, command) if argv else (states, states)
            ends = merged(ends[0], done[0]), merged(ends[1], done[1])
        return ends

    def step(self, argv: "Fields", states: "States", command: Simple) -> "Ends":
        """One command with its words: a function of the line, one of the shell's own, or a program."""
        function = self.functions.get(argv[0])
        if function is None:
            return self.run(argv, states, command)
        done = self.call(function, states)
        if function.sure:
            return done
        other = self.run(argv, states, command)
        return merged(done[0], other[0]), merged(done[1], other[1])

    def builtin(self, argv: "Fields", states: "States") -> "Ends | None":
        """The shell's own commands that change where it stands or whether it goes on."""
        name = argv[0]
        if name in ("cd", "chdir", "pushd", "popd"):
            from ibstatus.guard import cd

            return cd.moved(self, argv, states)
        if name in LEAVES:
            return (), ()
        if name == "set" and argv[1:2] and argv[1][:1] in "-+":
            stops = argv[1][0] == "-" and "e" in argv[1].partition("o")[0]
            self.stops_at_errors = stops and not self.branches
        if name == "unset":
            for word in argv[1:]:
                if word in self.functions:
                    self.functions[word].sure = False
        if name in MOVES:
            self.moved = True
        return None

    def call(self, function: Function, states: "States") -> "Ends":
        self.calls += 1
        function.called = True
        if self.calls > 50:
            self.unsure("a function calls itself, or too many are called")
            return states, states
        done = self.branch(lambda: self.seq(function.seq, states))
        return merged(*done) or states, done[1]

    def uncalled(self, states: "States") -> None:
        """Functions that the line defines and does not call: a trap or xargs may."""
        self.lenient = True  # what its arguments would be is not in the line
        for function in list(self.functions.values()):
            if not function.called:
                function.called = True
                self.branch(lambda function=function: self.seq(function.seq, states))  # type: ignore[misc]
        self.lenient = False

    def block(self, block: Block, states: "States") -> "Ends":
        self.codes(block.words or (), states)
        parts = block.parts
        if block.kind == SUBSHELL:
            self.apart(lambda: self.seq(parts[0], states))
            return states, states
        if block.kind == GROUP:
            return self.seq(parts[0], states)
        if block.kind == FUNCTION:
            before = self.functions.get(block.name)
            sure = not self.branches and before is None  # one that is defined twice: either may be meant
            self.functions[block.name] = Function([*(before.seq if before else []), *parts[0]], sure)
            return states, ()
        if block.kind == FOR and block.name:
            self.assign_by_name(block.name)
        return self.branch(lambda: self.branching(block, states))

    def branching(self, block: Block, states: "States") -> "Ends":
        if block.kind == IF:
            return self.condition(block.parts, states)
        if block.kind in (LOOP, FOR):
            return self.loop(block, states)
        after = states
        for part in block.parts:
            after = merged(after, *self.seq(part, states))
        return after, after

    def condition(self, parts: "list[Seq]", states: "States") -> "Ends":
        after: States = ()
        failed = states
        for at in range(0, len(parts) - 1, 2):
            ok, failed = self.seq(parts[at], failed or states)
            after = merged(after, *self.seq(parts[at + 1], ok or states)) if ok else after
        if len(parts) % 2:
            after = merged(after, *self.seq(parts[-1], failed or states)) if failed else after
        else:
            after = merged(after, failed)
        return after, after

    def loop(self, block: Block, states: "States") -> "Ends":
        """Round after round until no new place is reached."""
        seen = states
        for _ in range(MOST_ROUNDS):
            entry = seen
            if block.kind == LOOP:
                ok, failed = self.seq(block.parts[0], entry)
                after = merged(failed, *self.seq(block.parts[1], ok or entry))
            else:
                after = merged(*self.seq(block.parts[0], entry))
            seen = merged(seen, after)
            if seen == entry:
                return seen, seen
        self.unsure("a loop goes on changing folders")
        return seen, seen


def merged(*several: "States") -> "States":
    made: list[State] = []
    for states in several:
        made += [state for state in states if state not in made]
    return tuple(made)
