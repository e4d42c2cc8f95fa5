"""`…`, $((…)) and ~: what stands inside is read by other rules."""

from ibstatus.guard.shell_words import CODE, ENDS, HOME, OPEN, TEXT, Unreadable, Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_words import Piece


def backticks(words: Words, pieces: "list[Piece]", quoted: bool) -> None:
    """From the opening one to behind the closing one."""
    text, at = words.text, words.at + 1
    out: list[str] = []
    special = '`\\$"' if quoted and not words.in_document else "`\\$"
    stop, slash = text.find("`", at), text.find("\\", at)
    while True:
        if stop < 0:
            raise Unreadable("a backtick is not closed")
        if slash < 0 or slash > stop:
            out.append(text[at:stop])
            break
        follows = text[slash + 1 : slash + 2]
        out.append(text[at:slash] + (follows if follows and follows in special else "\\" + follows))
        at = slash + 2
        slash = text.find("\\", at)
        if stop < at:
            stop = text.find("`", at)
    words.at = stop + 1
    code = words.inner("".join(out))
    words.codes = words.codes if words.codes is not None else []
    words.codes.append(code)
    pieces.append((CODE, code, quoted))


def is_arithmetic(words: Words, at: int) -> bool:
    """Read up to `))`; False, with nothing kept, when it turns out to be two parentheses that follow each other."""
    text, before, open_ = words.text, len(words.codes or ()), 0
    pieces: list[Piece] = []
    plain = at
    while at < words.end:
        char = text[at]
        if char == "(":
            open_ += 1
        elif char == ")":
            if not open_:
                if text.startswith("))", at):
                    words.at = at + 2
                    words.arithmetic = True
                    words.sums.append([*pieces, (TEXT, text[plain:at], True)])
                    return True
                break
            open_ -= 1
        elif char in "$`\"'\\":
            pieces.append((TEXT, text[plain:at], True))
            at = plain = quoted_in(words, at, char, pieces)
            continue
        at += 1
    if words.codes is not None:
        del words.codes[before:]
    return False


def quoted_in(words: Words, at: int, char: str, pieces: "list[Piece]") -> int:
    if char in "'\\":
        raise Unreadable("it has quotes in arithmetic")
    words.at = at
    if char == '"':
        words.at = at + 1
        words.double(pieces)
    elif char == "$":
        words.dollar(pieces, True)
    else:
        backticks(words, pieces, True)
    return words.at


def tilde(words: Words, pieces: "list[Piece]") -> None:
    """Expanded at the start of a word and after `=` or `:`; elsewhere it is a letter."""
    text, at = words.text, words.at
    before = text[at - 1] if pieces and at else ""
    words.at = at + 1
    if pieces and before not in ("=", ":"):
        pieces.append((TEXT, "~", False))
        return
    stop = words.next_mark(at + 1)
    user = text[at + 1 : stop].partition("/")[0].partition(":")[0]
    if stop < words.end and len(user) == stop - at - 1 and text[stop] not in ENDS:
        pieces.append((OPEN, "~", False))
        return
    words.at = at + 1 + len(user)
    pieces.append((HOME, user, False))
