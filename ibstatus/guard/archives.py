"""tar, zip and unzip: which of their words are read and which are written."""

from ibstatus.guard.isolation import READ, WRITE
from ibstatus.guard.shell_values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.file_arguments import Use
    from ibstatus.guard.shell_values import Fields

VALUED = "fCTXbgHILNKVF"
RUN = ("I", "F")  # what these name is run


def uses(name: str, argv: "Fields") -> "list[Use]":
    if name == "tar" or name == "bsdtar":
        return tar(argv)
    words = [arg for arg in argv[1:] if not arg.startswith("-")]
    if name == "zip":
        return [(WRITE if at == 0 else READ, word, at > 0) for at, word in enumerate(words)]
    made: list[Use] = [(READ, word, False) for word in words[:1]]
    if any(arg in ("-l", "-p", "-t", "-v", "-Z", "-z") for arg in argv):
        return made
    target = next((argv[at + 1] for at, arg in enumerate(argv[:-1]) if arg == "-d"), ".")
    return [*made, (WRITE, target, True)]


def tar(argv: "Fields") -> "list[Use]":
    """`-C` holds for what follows; the archive itself is named from where the shell stands."""
    options, words, values = sorted_out(argv)
    makes = any(letter in options for letter in "cruA")
    takes_out = "x" in options and "O" not in options
    made: list[Use] = [(WRITE if makes else READ, file, False) for file in values.get("f", []) if file != "-"]
    made += [(READ, file, False) for letter in "TX" for file in values.get(letter, [])]
    made += [(WRITE, file, False) for letter in "gw" for file in values.get(letter, [])]
    made += [(READ, file, True) for file in values.get("+", [])]
    if makes and "T" in values:
        made.append((READ, UNKNOWN, True))
    folders = values.get("C", [])
    made += [(WRITE if takes_out else READ, folder, True) for folder in folders]
    if takes_out and not folders:
        made.append((WRITE, ".", True))
    if makes:
        for word in words:
            made += [
                (READ, f"{folder}/{word}" if folder and word[:1] != "/" else word, True) for folder in folders or [""]
            ]
    return made


def codes(argv: "Fields") -> "Fields":
    """What it gives to a shell; UNKNOWN when an option is not known, which may do that."""
    options, _, values = sorted_out(argv)
    found = [code for letter in RUN for code in values.get(letter, []) if code not in COMPRESSORS]
    return [
        *[code.removeprefix("exec=") for code in found if code not in ACTIONS],
        *([UNKNOWN] if "?" in options else []),
    ]


def meaning(name: str) -> str:
    if name in LONG:
        return LONG[name]
    found = {short for long, short in LONG.items() if long.startswith(name)}
    return found.pop() if len(found) == 1 and len(name) > 3 else ""


def is_flag(name: str) -> bool:
    return name.startswith("--no-") or any(long.startswith(name) for long in FLAGS.split())


def sorted_out(argv: "Fields") -> "tuple[str, Fields, dict[str, Fields]]":
    options = ""
    words: Fields = []
    values: dict[str, Fields] = {}
    waiting = ""
    for at, arg in enumerate(argv[1:]):
        if waiting:
            values.setdefault(waiting[0], []).append(arg)
            waiting = waiting[1:]
        elif arg.startswith("--"):
            name, mark, value = arg.partition("=")
            letter = meaning(name)
            if not letter and not mark and not is_flag(name):
                options += "?"
            options += letter
            if letter and letter in VALUED + "w+p":
                if mark:
                    values.setdefault(letter, []).append(value)
                else:
                    waiting = letter
        elif arg.startswith("-") or at == 0:
            cluster = arg.lstrip("-")
            for place, letter in enumerate(cluster):
                options += letter
                if letter in VALUED:
                    if arg.startswith("-") and place + 1 < len(cluster):
                        values.setdefault(letter, []).append(cluster[place + 1 :])
                        break
                    waiting += letter
        else:
            words.append(arg)
    return options, words, values


LONG = {
    "--create": "c", "--extract": "x", "--get": "x", "--list": "t", "--append": "r", "--update": "u", "--file": "f",
    "--directory": "C", "--files-from": "T", "--exclude-from": "X", "--to-stdout": "O", "--concatenate": "A",
    "--to-command": "I", "--use-compress-program": "I", "--checkpoint-action": "I", "--checkpoint": "",
    "--rsh-command": "I", "--rmt-command": "I", "--info-script": "F", "--new-volume-script": "F", "--add-file": "+",
    "--listed-incremental": "g", "--index-file": "w", "--volno-file": "w",
    **dict.fromkeys(
        ("--exclude", "--transform", "--xform", "--strip-components", "--owner", "--group", "--mode", "--mtime",
         "--format", "--sort", "--newer", "--newer-mtime", "--after-date", "--label", "--blocking-factor",
         "--record-size", "--level", "--suffix", "--quoting-style", "--exclude-tag", "--exclude-tag-all",
         "--exclude-tag-under", "--exclude-ignore", "--pax-option", "--warning", "--tape-length"), "p"),
}  # fmt: skip
FLAGS = """
--gzip --gunzip --ungzip --bzip2 --xz --lzma --lzip --lzop --zstd --compress --uncompress --auto-compress --verbose
--verify --diff --compare --delete --keep-old-files --keep-newer-files --skip-old-files --overwrite --unlink-first
--same-owner --same-permissions --preserve-permissions --preserve-order --same-order --numeric-owner --dereference
--hard-dereference --exclude-vcs --exclude-vcs-ignores --exclude-caches --exclude-backups --ignore-case --wildcards
--anchored --null --recursion --sparse --totals --touch --one-file-system --one-top-level --absolute-names --checkpoint
--show-transformed-names --show-stored-names --utc --full-time --block-number --interactive --confirmation
--remove-files --ignore-zeros --ignore-failed-read --acls --selinux --xattrs --posix --old-archive --portability
--version --help
--delay-directory-restore --recursive-unlink --incremental --seek --force-local --check-links --clamp-mtime
"""
COMPRESSORS = frozenset(
    ("gzip", "zstd", "xz", "bzip2", "pigz", "pbzip2", "pixz", "lz4", "lzip", "zstdmt", "zstd -T0", "xz -T0", "xz -9")
)
ACTIONS = frozenset(("dot", ".", "bell", "echo", "totals"))
