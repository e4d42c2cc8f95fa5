"""Compound commands: loops, conditions, groups, functions, [[ … ]] and (( … ))."""

from ibstatus.guard.shell_parse import CASE, FOR, FUNCTION, GROUP, IF, LOOP, SUBSHELL, TEST, Block, Reader, Simple
from ibstatus.guard.shell_words import ENDS, NAME, NAME_START, Unreadable, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_parse import Seq

NUMERIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", "-t"))


def read(reader: Reader, word: str) -> Block:
    """The block whose first word this is ('' for a parenthesis), with its redirects."""
    reader.deeper()
    block = begun(reader, word)
    reader.depth -= 1
    redirects(reader, block)
    return block


def redirects(reader: Reader, block: Block) -> None:
    text = reader.text
    while True:
        reader.blanks()
        at = reader.at
        while text[at : at + 1].isdigit():
            at += 1
        if text[at : at + 1] not in ("<", ">") and not text.startswith("&>", reader.at):
            return
        descriptor = text[reader.at : at]
        reader.at = at
        reader.redirect(block.redirects, descriptor)


def function(reader: Reader, command: Simple) -> Block:
    """`name() …`, from the opening parenthesis."""
    if len(command.words) != 1 or command.assigns or command.redirects or not command.words[0].is_plain:
        raise Unreadable("'(' is not expected there")
    reader.at += 1
    reader.blanks()
    expect_char(reader, ")")
    reader.deeper()
    block = body(reader, command.words[0].text or "")
    reader.depth -= 1
    return block


def begun(reader: Reader, word: str) -> Block:
    if not word:
        return parenthesis(reader)
    reader.at += len(word)
    if word == "{":
        seq = some(reader, ("}",))
        expect(reader, "}")
        return Block(GROUP, [seq])
    if word == "if":
        return condition(reader)
    if word in ("while", "until"):
        test = some(reader, ("do",))
        return Block(LOOP, [test, done(reader)])
    if word in ("for", "select"):
        return loop(reader)
    if word == "case":
        return case(reader)
    if word == "[[":
        return test_of(reader)
    if word == "function":
        reader.blanks()
        name = reader.word()
        reader.blanks()
        if reader.text.startswith("(", reader.at):
            reader.at += 1
            reader.blanks()
            expect_char(reader, ")")
        if not name.is_plain:
            raise Unreadable("a function has a computed name")
        return body(reader, name.text or "")
    raise Unreadable(f"it uses {word}")


def parenthesis(reader: Reader) -> Block:
    if reader.text.startswith("((", reader.at):
        start, codes = reader.at, reader.codes
        reader.codes = None
        if reader.nested().is_arithmetic(reader, start + 2):
            return with_codes(reader, codes)
        reader.at, reader.codes = start, codes
    reader.at += 1
    return Block(SUBSHELL, [reader.command_in(")")])


def with_codes(reader: Reader, codes: "list[Seq] | None") -> Block:
    """A test of arithmetic: only the commands in it matter."""
    word = Word("", 0, 0, [], True, reader.codes)
    reader.codes = codes
    return Block(TEST, [], "((", [word])


def some(reader: Reader, stops: tuple[str, ...]) -> "Seq":
    seq = reader.seq(stops)
    if not seq:
        raise Unreadable("a command is missing")
    return seq


def expect(reader: Reader, keyword: str) -> None:
    reader.blanks(lines=True)
    if reader.peek() != keyword:
        raise Unreadable(f"'{keyword}' is missing")
    reader.at += len(keyword)


def expect_char(reader: Reader, char: str) -> None:
    if not reader.text.startswith(char, reader.at):
        raise Unreadable(f"'{char}' is missing")
    reader.at += len(char)


def done(reader: Reader) -> "Seq":
    """do … done."""
    expect(reader, "do")
    seq = some(reader, ("done",))
    expect(reader, "done")
    return seq


def condition(reader: Reader) -> Block:
    parts = [some(reader, ("then",))]
    while True:
        expect(reader, "then")
        parts.append(some(reader, ("elif", "else", "fi")))
        word = reader.peek()
        reader.at += len(word)
        if word == "fi":
            return Block(IF, parts)
        if word == "else":
            parts.append(some(reader, ("fi",)))
            expect(reader, "fi")
            return Block(IF, parts)
        if word != "elif":
            raise Unreadable("'fi' is missing")
        parts.append(some(reader, ("then",)))


def loop(reader: Reader) -> Block:
    reader.blanks()
    if reader.text.startswith("((", reader.at):
        codes, reader.codes = reader.codes, None
        if not reader.nested().is_arithmetic(reader, reader.at + 2):
            raise Unreadable("'))' is missing")
        block = with_codes(reader, codes)
        separator(reader)
        return Block(FOR, [done(reader)], "", block.words)
    name = reader.word()
    if not name.is_plain or not is_name(name.text or ""):
        raise Unreadable("a loop has no variable")
    reader.blanks(lines=True)
    words: list[Word] | None = None
    if reader.peek() == "in":
        reader.at += 2
        words = []
        while True:
            reader.blanks()
            if reader.at >= reader.end or reader.text[reader.at] in "\n;":
                break
            if reader.text[reader.at] in ENDS and reader.text[reader.at : reader.at + 2] not in ("<(", ">("):
                raise Unreadable(f"'{reader.text[reader.at]}' is not expected there")
            words += reader.expanded(reader.word())
    separator(reader)
    return Block(FOR, [done(reader)], name.text or "", words)


def is_name(text: str) -> bool:
    return bool(text) and text[0] in NAME_START and NAME.issuperset(text)


def separator(reader: Reader) -> None:
    reader.blanks()
    if reader.text.startswith(";", reader.at):
        reader.at += 1


def case(reader: Reader) -> Block:
    reader.blanks()
    words = [reader.word()]
    expect(reader, "in")
    parts: list[Seq] = []
    while True:
        reader.blanks(lines=True)
        if reader.peek() == "esac":
            reader.at += 4
            return Block(CASE, parts, "", words)
        if reader.text.startswith("(", reader.at):
            reader.at += 1
        words += patterns(reader)
        parts.append(reader.seq(("esac",)))
        for end in (";;&", ";;", ";&"):
            if reader.text.startswith(end, reader.at):
                reader.at += len(end)
                break
        else:
            expect(reader, "esac")
            return Block(CASE, parts, "", words)


def patterns(reader: Reader) -> list[Word]:
    words: list[Word] = []
    while True:
        reader.blanks()
        start = reader.at
        words.append(reader.word())
        if reader.at == start:
            raise Unreadable("a pattern of case is missing")
        reader.blanks()
        if reader.text.startswith("|", reader.at):
            reader.at += 1
            continue
        expect_char(reader, ")")
        return words


def test_of(reader: Reader) -> Block:
    """[[ … ]]: only its words matter, and what runs in them."""
    words: list[Word] = []
    while True:
        reader.blanks(lines=True)
        if reader.at >= reader.end:
            raise Unreadable("']]' is missing")
        if reader.text.startswith("]]", reader.at) and reader.text[reader.at + 2 : reader.at + 3] in ("", *ENDS):
            reader.at += 2
            compared(reader, words)
            return Block(TEST, [], "[[", words)
        char = reader.text[reader.at]
        if char == ";":
            raise Unreadable("']]' is missing")
        if char in "()&|<>" and reader.text[reader.at : reader.at + 2] not in ("<(", ">("):
            reader.at += 1
            continue
        words.append(reader.word())


def compared(reader: Reader, words: list[Word]) -> None:
    """[[ computes what stands beside a comparison of numbers, and the subscript of a name after -v."""
    for at, word in enumerate(words):
        if word.text in NUMERIC:
            reader.arithmetic = True
            reader.sums += [one.pieces for one in words[max(at - 1, 0) : at + 2] if one is not word]


def body(reader: Reader, name: str) -> Block:
    """A function's: any compound command."""
    reader.blanks(lines=True)
    command = reader.command()
    if not isinstance(command, Block) or command.kind == FUNCTION:
        raise Unreadable("a function has no body")
    return Block(FUNCTION, [[(False, [("", False, [command])])]], name)
