"""Programs whose words hold code: which of it is for a shell, and what sed and awk do to files."""

from ibstatus.guard.isolation import READ, WRITE
from ibstatus.guard.shell_values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.file_arguments import Use
    from ibstatus.guard.shell_values import Fields

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
        from ibstatus.guard import wrappers_rules

        start, unknown = wrappers_rules.start_of(argv)
        return [UNKNOWN if unknown else " ".join(argv[start:])]
    if name in ("tar", "bsdtar"):
        from ibstatus.guard import archives

        return archives.codes(argv)
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
    """The programs of sed and awk that stand in the words; one in a file counts as one that runs commands."""
    of_sed = name in SED
    valued, found, at = ("efl" if of_sed else "Fvfeil"), [], 1
    given, words = False, argv[:0]
    while at < len(argv):
        if argv[at][:1] != "-" or len(argv[at]) < 2:
            words = [*words, argv[at]]
            at += 1
            if not of_sed:  # sed takes options behind its words as well
                break
            continue
        option, mark, value = argv[at].partition("=")
        letter = ""
        if option == "--":
            at += 1
            break
        if option.startswith("--"):
            letter = next((short for long, short in SCRIPTS.items() if long.startswith(option) and len(option) > 3), "")
        else:
            cluster = argv[at][1:]
            stop = next((place for place, one in enumerate(cluster) if one in valued or (one == "i" and of_sed)), -1)
            letter, value = (cluster[stop], cluster[stop + 1 :]) if stop >= 0 else ("", "")
            mark = value
        if letter in valued and letter and not mark:
            at += 1
            value = "".join(argv[at : at + 1])
        if letter == "e":
            found.append(value)
        elif (
            letter == "f"
            or (letter in ("i", "l") and not of_sed and value != "inplace")
            or (letter == "i" and of_sed and "/" in value)
        ):
            found.append(RUNS)
        given = given or letter in ("e", "f")
        at += 1
    found += [] if given else [*words, *argv[at : at + 1]][:1]
    return ["\n".join(found)] if found else []


RUNS = "@e"  # a program that neither sed nor awk can be sure of
SCRIPTS = {
    "--expression": "e", "--source": "e", "--file": "f", "--in-place": "i", "--include": "i", "--load": "l",
    "--exec": "f", "--field-separator": "F", "--assign": "v", "--line-length": "l",
}  # fmt: skip


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
    """(files that it names, is it all understood and runs no other program)."""
    from ibstatus.guard import awk

    return awk.uses(program) if UNKNOWN not in program else ([], False)
