"""Programs whose words hold code: which of it is for a shell, and what sed and awk do to files."""

from ibstatus.rules.guarding.isolation import READ, WRITE
from ibstatus.rules.guarding.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.programs import Use
    from ibstatus.rules.guarding.values import Fields

LANGUAGES = frozenset(
    (
        "python", "python2", "python3", "node", "nodejs", "perl", "ruby", "php", "deno", "bun", "lua", "Rscript",
        "osascript",
    )
)  # fmt: skip
SED = frozenset(("sed", "gsed"))
AWK = frozenset(("awk", "gawk", "mawk", "nawk"))
# Options whose value a shell runs.
CODES = {
    "tar": ("-I", "--to-command", "--use-compress-program", "--checkpoint-action", "--rsh-command", "-F",
            "--info-script", "--new-volume-script", "--rmt-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"), "rg": ("--pre",), "sort": ("--compress-program",),
    "split": ("--filter",), "zip": ("-TT", "--unzip-command"), "scp": ("-S",), "man": ("-P", "--pager"),
    "entr": (), "script": ("-c", "--command"), "su": ("-c", "--command"), "flock": ("-c", "--command"),
    "ssh": (), "fzf": ("--preview",), "npm": ("-c", "--call"), "npx": ("-c", "--call"), "yq": (), "find": (),
}  # fmt: skip


def is_language(name: str) -> bool:
    return name in LANGUAGES or name.rstrip("0123456789.") in LANGUAGES


def codes(name: str, argv: "Fields") -> list[str]:
    """Texts that this program gives to a shell."""
    if name == "watch":
        return [" ".join(argv[1:])]
    options = CODES.get(name, ())
    found = [argv[at + 1] for at, arg in enumerate(argv[:-1]) if arg in options]
    for arg in argv:
        option, mark, value = arg.partition("=")
        if mark and len(option) > 4 and any(one.startswith(option) for one in options):
            found.append(value)
    return [text.removeprefix("exec=") for text in found]


def code_of(argv: "Fields") -> list[str]:
    """What stands behind -c, -e and the like of a language."""
    found: list[str] = []
    for at, arg in enumerate(argv[:-1]):
        if arg in ("-c", "-e", "-E", "-p", "-r", "--eval", "--print") or (
            arg[:1] == "-" and arg[1:2] != "-" and arg[-1] == "e"
        ):
            found.append(argv[at + 1])
    return found


def script_of(name: str, argv: "Fields") -> list[str]:
    """The programs of sed and awk that stand in the words."""
    found: list[str] = []
    valued = "lE" if name in SED else "Fv"
    at, given = 1, False
    while at < len(argv):
        arg = argv[at]
        if arg in ("-e", "--expression", "-f", "--file"):
            given = True
            found += argv[at + 1 : at + 2] if arg in ("-e", "--expression") and name in SED else []
            at += 1
        elif arg.startswith("--expression="):
            given = True
            found.append(arg.partition("=")[2])
        elif arg.startswith("-") and len(arg) > 1:
            if name in SED and not arg.startswith("--") and arg.rstrip("e") != arg and not arg[1:].strip("nrEsuze"):
                given = True
                found += argv[at + 1 : at + 2]
                at += 1
            elif len(arg) == 2 and arg[1] in valued and name not in SED:
                at += 1
        elif not given:
            return [arg]
        else:
            break
        at += 1
    return found


def sed_uses(script: str) -> "tuple[list[Use], bool]":
    """(files that the script reads and writes, is it all understood and runs nothing)."""
    made: list[Use] = []
    at = 0
    while at < len(script):
        char = script[at]
        if char in " \t\n;{}!,0123456789$+~-":
            at += 1
        elif char == "#":
            at = ending(script, at)
        elif char == "/" or char == "\\":
            at = behind(script, at + (2 if char == "\\" else 1), script[at + 1 : at + 2] if char == "\\" else "/")
            while script[at : at + 1] in ("I", "M") and at < len(script):
                at += 1
        elif char in "sy":
            mark = script[at + 1 : at + 2]
            at = behind(script, behind(script, at + 2, mark), mark)
            stop = at
            while stop < len(script) and script[stop] in "gpiImMe0123456789":
                stop += 1
            if "e" in script[at:stop]:
                return made, False
            if script[stop : stop + 1] == "w":
                made.append((WRITE, script[stop + 1 : ending(script, stop)].strip(), False))
                stop = ending(script, stop)
            at = stop
        elif char in "rRwW":
            stop = ending(script, at)
            made.append((READ if char in "rR" else WRITE, script[at + 1 : stop].strip(), False))
            at = stop
        elif char in "aic":
            at = ending(script, at)
            while at < len(script) and script[at - 1] == "\\":
                at = ending(script, at + 1)
        elif char in ":btTqQlL":
            while at < len(script) and script[at] not in "\n;}":
                at += 1
        elif char in "=dDgGhHnNpPxzF":
            at += 1
        else:
            return made, False  # `e` runs commands; anything else is unknown
        if at < 0 or at > len(script) + 1:
            return made, False
    return made, True


def ending(script: str, at: int) -> int:
    stop = script.find("\n", at)
    return len(script) if stop < 0 else stop


def behind(script: str, at: int, mark: str) -> int:
    """Behind the next unescaped mark; in brackets it is a letter."""
    bracket = False
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if char == "[" and not bracket:
            bracket = True
            at += 2 if script[at + 1 : at + 2] == "]" else 3 if script[at + 1 : at + 3] == "^]" else 1
            continue
        if char == "]":
            bracket = False
        elif char == mark and (not bracket or mark != "/"):
            return at + 1
        at += 1
    return len(script) + 2


def awk_uses(program: str) -> "tuple[list[Use], bool]":
    """Text in quotes that is a path, and whether it runs other programs."""
    bare = program.replace(" ", "").replace("||", "")
    if (
        any(word in bare for word in ("system(", '|"', '"|', "|&", "|getline", "@load", "@include"))
        or UNKNOWN in program
    ):
        return [], False
    if "getline" in bare or ">" in bare:
        writes = ">" in bare
        quoted = program.split('"')[1::2]
        paths = [text for text in quoted if text.startswith(("/", "..", "~")) or "/.." in text]
        return [(WRITE if writes else READ, text, False) for text in paths], True
    return [], True
