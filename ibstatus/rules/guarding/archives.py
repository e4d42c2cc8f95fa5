"""tar, zip and unzip: which of their words are read and which are written."""

from ibstatus.rules.guarding.isolation import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.programs import Use
    from ibstatus.rules.guarding.values import Fields

VALUED = "fCTXbgHILNKV"


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
            letter = next((short for long, short in LONG.items() if long.startswith(name) and len(name) > 4), "")
            options += letter
            if letter in VALUED and letter:
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
    "--to-command": "I", "--use-compress-program": "I", "--checkpoint-action": "I",
}  # fmt: skip
