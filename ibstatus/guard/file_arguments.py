"""What is known of programs: which of their words are files that they read or write, and which are only text."""

from ibstatus.guard.isolation import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_values import Fields

    Use = tuple[str, str, bool]  # access, field, with all that is below it

# No rule is needed for these where any command is allowed: syntax, and what only prints or waits.
FREE = frozenset(
    (
        "true", "false", ":", "echo", "printf", "test", "[", "export", "declare", "typeset", "local", "readonly",
        "unset", "set", "shift", "cd", "pushd", "popd", "dirs", "pwd", "sleep", "wait", "exit", "return", "break",
        "continue", "read", "let", "basename", "dirname", "seq", "umask", "getopts", "times", "jobs", "type", "shopt",
        "exec", "command", "builtin", "mapfile", "readarray", "nproc", "date", "uname", "whoami", "id", "which", "arch",
        "tty", "logname",
    )
)  # fmt: skip
TEXT_ONLY = frozenset(
    ("echo", "printf", "sleep", "wait", "exit", "return", "seq", "basename", "dirname", "kill", "yes")
)
READS = frozenset(
    (
        "cat", "tac", "nl", "head", "tail", "less", "more", "most", "wc", "sort", "uniq", "cut", "paste", "join",
        "comm", "diff", "cmp", "diff3", "sdiff", "colordiff", "file", "stat", "od", "xxd", "hexdump", "strings",
        "base64", "base32", "md5sum", "md5", "sha1sum", "sha224sum", "sha256sum", "sha512sum", "shasum", "b2sum",
        "cksum", "sum", "rev", "fold", "fmt", "column", "expand", "unexpand", "look", "ls", "dir", "vdir", "tree",
        "du", "readlink", "realpath", "bat", "batcat", "exa", "eza", "lsd", "zcat", "bzcat", "xzcat", "zless", "view",
        "nm", "objdump", "readelf", "size", "ldd", "iconv", "pv", "source", ".", "find", "fd",
        "fdfind", "zstdcat", "lz4cat",
    )
)  # fmt: skip
WRITES = frozenset(
    (
        "rm", "rmdir", "unlink", "shred", "touch", "mkdir", "mkfifo", "mknod", "truncate", "tee", "gzip", "gunzip",
        "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "chmod", "chown", "chgrp", "ed", "ex", "vi", "vim",
        "nvim", "nano", "emacs", "dos2unix", "unix2dos", "sponge", "trash", "rename", "split", "csplit", "setfacl",
        "chattr",
    )
)  # fmt: skip
COPIES = frozenset(("cp", "install", "rsync", "ln", "scp", "gcp", "link", "mv", "gmv"))
PATTERN = frozenset(
    ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq"]
)
STRICT = READS | WRITES | COPIES | PATTERN | frozenset(("dd", "tar", "bsdtar", "zip", "unzip"))
WHOLE = frozenset(
    (
        "find", "fd", "fdfind", "tree", "du", "rm", "mv", "rsync", "rg", "ag", "ack", "chmod", "chown", "chgrp",
        "tar", "bsdtar", "zip", "scp",
    )
)  # fmt: skip
MOUNTS = frozenset(("docker", "podman", "nerdctl"))
RECURSIVE = {"grep": "rR", "egrep": "rR", "fgrep": "rR", "ls": "R", "cp": "rRa", "diff": "r", "zgrep": "rR"}
# Short options whose value is the next word, which is no file.
VALUED = {
    "head": "nc", "tail": "ncs", "sort": "ktS", "cut": "dfbc", "uniq": "fsw", "paste": "d", "join": "t12oaevj",
    "fold": "w", "fmt": "w", "nl": "bdfhilnsvw", "od": "AjNtw", "xxd": "clsgo", "base64": "w", "ls": "IwT",
    "tree": "LPI", "du": "dtB", "diff": "UCFIW", "stat": "cf", "file": "mFe", "touch": "dt", "mkdir": "m",
    "truncate": "s", "cp": "S", "install": "mogS", "ln": "S", "mv": "S", "rsync": "efT", "grep": "eABCmdD",
    "egrep": "eABCmdD", "fgrep": "eABCmdD", "zgrep": "eABCm", "rg": "eABCmgtTjMrE", "ag": "ABCGm", "ack": "ABCm",
    "sed": "el", "gsed": "el", "awk": "Fv", "gawk": "Fv", "mawk": "Fv", "nawk": "Fv", "column": "tscN",
    "hexdump": "ensv",
    "strings": "ntes", "split": "abln", "less": "pPx", "shred": "ns", "fd": "edEtS", "fdfind": "edEtS", "bat": "lrH",
}  # fmt: skip
# Letters whose value is a file to read.
FILES = {"grep": "f", "egrep": "f", "fgrep": "f", "zgrep": "f", "rg": "f", "date": "fr", "sed": "f", "gsed": "f"}
# The value is what is looked for, or stands between fields.
SOUGHT = {"grep": "e", "egrep": "e", "fgrep": "e", "zgrep": "e", "rg": "eg", "sed": "e", "gsed": "e", "cut": "d"}
TWO_WORDS = frozenset(("--arg", "--argjson"))  # jq
# Options that name a file to write.
OUTPUTS = {
    "curl": ("-o", "-D", "-c", "--output", "--dump-header", "--cookie-jar"), "wget": ("-O", "-P", "-o", "-a"),
    "sort": ("-o",), "gcc": ("-o",), "g++": ("-o",), "cc": ("-o",), "c++": ("-o",), "clang": ("-o",),
    "clang++": ("-o",), "ld": ("-o",), "rustc": ("-o",), "pandoc": ("-o",), "dot": ("-o",), "tree": ("-o",),
    "unzip": ("-d",), "cp": ("-t",), "mv": ("-t",), "install": ("-t",), "ln": ("-t",), "ffmpeg": (),
    "go": ("-o",), "openssl": ("-out",), "ssh-keygen": ("-f",), "pg_dump": ("-f",), "sqlite3": (),
}  # fmt: skip
# Which short options bring the pattern; -e of jq is a switch.
GIVES = {"jq": "f", "yq": "f", "awk": "f", "gawk": "fe", "mawk": "f", "nawk": "f", "rg": "ef", "ag": ""}
GIVING = ("--file", "--files", "--expression", "--regexp", "--from-file")
FILE_AFTER = {"-f": 1, "--file": 1, "--from-file": 1, "--slurpfile": 2, "--rawfile": 2}
LONG_OUTPUTS = ("--output", "--outfile", "--out", "--out-dir", "--outDir", "--output-dir", "--target-directory")


def uses(name: str, argv: "Fields") -> "list[Use]":
    """The files that this command names, as far as the program is known; others may be read."""
    if name in TEXT_ONLY:
        return []
    if name == "dd":
        return [(WRITE if arg[:3] == "of=" else READ, arg[3:], False) for arg in argv[1:] if arg[:3] in ("if=", "of=")]
    if name in ("tar", "bsdtar", "zip", "unzip"):
        from ibstatus.guard import archives

        return archives.uses(name, argv)
    made: list[Use] = []
    words = plain_words(name, argv, made)
    whole = name in WHOLE or is_recursive(name, argv)
    if name in COPIES:
        made += copied(name, argv, words)
    elif name in WRITES:
        skipped = 1 if name in ("chmod", "chown", "chgrp", "setfacl", "chattr", "rename") else 0
        if name not in ("rename", "setfacl") and any(arg.startswith("--reference") for arg in argv):
            skipped = 0
        made += [(WRITE, word, whole) for word in words[skipped:]]
    elif name in PATTERN:
        made += searched(name, argv, words, whole)
    elif name in STRICT:
        made += [(READ, word, whole) for word in words]
        if whole and not words:
            made.append((READ, ".", whole))
    return made


def is_recursive(name: str, argv: "Fields") -> bool:
    if name not in RECURSIVE:
        return False
    long = ("--rec", "--deref", "--dir", "--arch")
    return (
        any(arg.endswith("recurse") for arg in argv)
        or any(letter in letters(argv) for letter in RECURSIVE[name])
        or any(arg.startswith(long) for arg in argv)
    )


def letters(argv: "Fields") -> str:
    return "".join([arg[1:] for arg in argv[1:] if arg.startswith("-") and not arg.startswith("--")])


def plain_words(name: str, argv: "Fields", made: "list[Use]") -> "Fields":
    """The words that are neither options nor their values; files named by options are added to `made`."""
    outputs = OUTPUTS.get(name, ())
    words: Fields = []
    at, options = 1, True
    while at < len(argv):
        arg = argv[at]
        if not options or not arg.startswith("-") or arg == "-":
            words.append(arg)
        elif arg == "--":
            options = False
        elif arg in outputs or arg in LONG_OUTPUTS:
            made += [(WRITE, word, False) for word in argv[at + 1 : at + 2]]
            at += 1
        elif arg in TWO_WORDS:
            at += 2
        elif arg.startswith("--"):
            option, mark, value = arg.partition("=")
            writes = len(option) > 4 and any(one.startswith(option) for one in LONG_OUTPUTS)
            if mark:
                made.append((WRITE if writes else READ, value, False))
            elif writes:
                made += [(WRITE, word, False) for word in argv[at + 1 : at + 2]]
                at += 1
        else:
            at += cluster(name, arg, argv[at + 1] if at + 1 < len(argv) else "", made)
        at += 1
    return words


def cluster(name: str, arg: str, following: str, made: "list[Use]") -> bool:
    """`-nf x`: letters, of which one may have a value; is that the next word? Files are added to `made`."""
    valued, outputs = VALUED.get(name, ""), OUTPUTS.get(name, ())
    for at, letter in enumerate(arg[1:], 2):
        value = arg[at:] or following
        if "-" + letter in outputs:
            made.append((WRITE, value, False))
        elif letter in FILES.get(name, ""):
            made.append((READ, value, False))
        elif letter in valued:
            if letter not in SOUGHT.get(name, "") and leads(value):
                made.append((READ, value, False))
        else:
            if arg[at : at + 1] in ("/", "~", "."):
                made.append((READ, arg[at:], False))
                return False
            continue
        return not arg[at:]
    return False


def leads(text: str) -> bool:
    return text.startswith(("/", "~", "..")) or "/.." in text


def copied(name: str, argv: "Fields", words: "Fields") -> "list[Use]":
    """The last word is written, and so is each name in it when it is a folder; mv takes the others away."""
    to_folder = "-t" in argv or any(arg.startswith("--target-directory") for arg in argv)
    moves = name in ("mv", "gmv")
    sources = words if to_folder or len(words) < 2 else words[:-1]
    made: list[Use] = [(WRITE if moves else READ, word, name != "ln") for word in sources]
    if name == "ln" and ("s" in letters(argv) or "--symbolic" in argv):
        made = []  # rules/special looks where a symlink leads
    if len(words) > 1 and not to_folder:
        target = words[-1]
        made.append((WRITE, target, True))
        leaves = [word.rstrip("/").rpartition("/")[2] for word in sources]
        made += [(WRITE, f"{target.rstrip('/')}/{leaf}", True) for leaf in leaves if leaf not in ("", ".", "..")]
    return made


def searched(name: str, argv: "Fields", words: "Fields", whole: bool) -> "list[Use]":
    """The first word is the pattern or program, unless an option gives it."""
    given = any(gives_pattern(arg, VALUED.get(name, ""), GIVES.get(name, "ef")) for arg in argv[1:])
    files = words if given else words[1:]
    access = READ
    if name in ("sed", "gsed") and in_place(argv):
        access = WRITE
    if name in ("awk", "gawk", "mawk", "nawk"):
        files = [word for word in files if "=" not in word or word.startswith(("/", "."))]
        access = WRITE if "inplace" in argv else READ
        values = [argv[at + 1].partition("=")[2] for at, arg in enumerate(argv[:-1]) if arg == "-v"]
        files += [value for value in values if value.startswith(("/", "~", "..")) or "/.." in value]
    made: list[Use] = [(access, word, whole) for word in files]
    if whole and not files and name in ("rg", "ag", "ack", "grep", "egrep"):
        made.append((READ, ".", whole))
    for at, arg in enumerate(argv):
        after = FILE_AFTER.get(arg, 0)
        if after and at + after < len(argv):
            made.append((READ, argv[at + after], False))
    return made


def gives_pattern(arg: str, valued: str, letters_: str) -> bool:
    """Does this option bring the pattern or program, so that every plain word is a file?"""
    if arg.startswith("--"):
        option = arg.partition("=")[0]
        return len(option) > 2 and any(one.startswith(option) for one in GIVING)
    if not arg.startswith("-"):
        return False
    for letter in arg[1:]:
        if letter in letters_:
            return True
        if letter in valued:
            return False
    return False


def in_place(argv: "Fields") -> bool:
    for arg in argv[1:]:
        if arg.startswith("--in"):
            return True
        if arg.startswith("-") and not arg.startswith("--"):
            cluster = arg[1:]
            if "i" in cluster and not cluster.partition("i")[0].strip("nrEsuz"):
                return True
    return False


def candidates(arg: str) -> "Fields":
    """What in a word of any program could be a path: all of it, and what stands behind `=`, `:`, `,` or `@`."""
    if not any(mark in arg for mark in ("/", "~", "..")):
        return [] if arg.startswith("-") else [arg]
    found = [arg] if arg[:1] not in "-/" or ".." in arg else []
    text = arg
    if arg.startswith("-") and not arg.startswith("--") and len(arg) > 2:
        stop = 2
        while stop < min(len(arg), 12) and arg[stop].isalpha():
            stop += 1
        found += [arg[at:] for at in range(2, stop + 1)]  # any letter of the cluster may have the rest as its value
        text = arg[2:]
    for mark in "=,@":
        text = text.replace(mark, ":")
    parts = text.split(":")
    if len(parts) == 1 and arg.startswith("/"):
        found.append(arg)
    if len(parts) > 1:
        found += [part for part in parts if part.startswith(("/", "~", "..")) or "/.." in part]
    return found
