"""What a program of awk does outside of itself: the files that it names, and whether it runs other programs."""

from ibstatus.guard.isolation import READ, WRITE
from ibstatus.guard.shell_values import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.file_arguments import Use

STRING, REGEX = "\5", "\6"
BEFORE_REGEX = "(,{};!&|~\n=<>+-*%?:"  # behind these a slash begins a pattern, else it divides
WORDS = ("print", "printf", "return", "in", "case", "else", "do", "getline", "delete", "exit", "not")


def uses(program: str) -> "tuple[list[Use], bool]":
    bare, strings = taken_apart(program)
    tight = bare.replace(" ", "").replace("\t", "").replace("||", "").replace("==ARGV[", "")
    if any(word in tight for word in ("system(", "|", "@", "ARGV", "\\")):
        return [], False
    made: list[Use] = []
    count, printing, depth = 0, False, 0
    for at, char in enumerate(bare):
        if char == STRING:
            count += 1
        elif char in ";}{\n":
            printing, depth = False, 0
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif bare.startswith("print", at):
            printing, depth = True, 0
        writes = char == ">" and printing and depth <= 0
        if writes or (char == "<" and "getline" in bare):
            rest = bare[at + 1 :].lstrip("> \t")
            if not rest.startswith(STRING) or rest[1:].lstrip(" \t)")[:1] not in ("", ";", "}", "\n", ">", "&"):
                if rest.startswith(STRING) and strings[count][:1].isalnum():
                    made.append((WRITE if writes else READ, strings[count] + ANY, False))
                    continue
                if writes or "getline" in bare[max(at - 40, 0) : at].rpartition(";")[2]:
                    return made, False
                continue
            made.append((WRITE if writes else READ, strings[count], False))
    return made, True


def taken_apart(program: str) -> tuple[str, list[str]]:
    """(the program with a mark for each string and pattern, and without comments; the strings)."""
    out: list[str] = []
    strings: list[str] = []
    at, end, last = 0, len(program), "\n"
    while at < end:
        char = program[at]
        if char == "#":
            stop = program.find("\n", at)
            at = end if stop < 0 else stop
            continue
        if char == '"' or (char == "/" and is_regex(out, last, program, at)):
            stop = closing(program, at + 1, char)
            if char == '"':
                strings.append(program[at + 1 : stop])
            last = STRING if char == '"' else REGEX
            out.append(last)
            at = stop + 1
            continue
        if char == "\\" and program[at + 1 : at + 2] == "\n":
            at += 2
            continue
        out.append(char)
        last = last if char in " \t" else char
        at += 1
    return "".join(out), strings


def is_regex(out: list[str], last: str, program: str, at: int) -> bool:
    if last in BEFORE_REGEX:
        return True
    may_be = last == ")" or (last.isalpha() and "".join(out[-12:]).rstrip().endswith(WORDS))
    inside = program[at + 1 :].partition("/")[0]
    if may_be and ('"' in inside or "#" in inside):
        out.append("@")  # `if (x) /y/` or a division: a quote in it would be misread
    return False


def closing(program: str, at: int, mark: str) -> int:
    """Where a string or a pattern ends; in brackets a slash is a letter for some."""
    bracket = False
    while at < len(program):
        char = program[at]
        if char == "\\":
            at += 1
        elif mark == "/" and char == "[" and not bracket:
            bracket = True
            at += program[at + 1 : at + 2] == "^"
            at += program[at + 1 : at + 2] == "]"
        elif char == "]":
            bracket = False
        elif char == mark and not bracket:
            return at
        at += 1
    return at
