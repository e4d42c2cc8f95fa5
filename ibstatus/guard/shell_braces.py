"""{a,b} and {1..3}: one word becomes several."""

from ibstatus.guard.shell_words import TAME, TEXT, Unreadable, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_words import Piece

    Token = str | Piece  # a letter that stands unquoted, or a whole piece

MOST = 256
MOST_BRACES = 24
LONGEST = 10_000


def expanded(word: Word) -> list[Word]:
    tokens: list[Token] = []
    for piece in word.pieces:
        if piece[0] == TEXT and not piece[2]:
            tokens += piece[1]
        else:
            tokens.append(piece)
    if len(tokens) > LONGEST or tokens.count("{") > MOST_BRACES:
        raise Unreadable("it has too many braces")
    if "," in tokens and any(tokens[at : at + 2] == ["{", "}"] for at in range(len(tokens))):
        raise Unreadable("it has {} beside other braces")
    made = of(tokens)
    if len(made) == 1 and made[0] is tokens:
        return [word]
    words = [Word(word.source, word.start, word.end, pieces_of(one), word.quoted, None) for one in made]
    if words:
        words[0].codes = word.codes
    return words


def of(tokens: "list[Token]") -> "list[list[Token]]":
    found = first_pair(tokens)
    if found is None:
        return [tokens]
    start, stop, commas = found
    inside = tokens[start + 1 : stop]
    if commas:
        edges = [start, *commas, stop]
        parts = [made for at, a in enumerate(edges[:-1]) for made in of(tokens[a + 1 : edges[at + 1]])]
    else:
        parts = sequence(inside)
    after = of(tokens[stop + 1 :])
    if len(parts) * len(after) > MOST:
        raise Unreadable("its braces make too many words")
    return [tokens[:start] + part + tail for part in parts for tail in after]


def first_pair(tokens: "list[Token]") -> "tuple[int, int, list[int]] | None":
    """(opening, closing, commas between) of the first braces that expand."""
    for start, token in enumerate(tokens):
        if token != "{":
            continue
        depth, commas = 0, []
        for at in range(start + 1, len(tokens)):
            char = tokens[at]
            if char == "{":
                depth += 1
            elif char == "," and not depth:
                commas.append(at)
            elif char == "}":
                if depth:
                    depth -= 1
                elif commas or sequence(tokens[start + 1 : at]):
                    return start, at, commas
                else:
                    break
    return None


def sequence(inside: "list[Token]") -> "list[list[Token]]":
    """What {1..9}, {a..e} stand for; [] when it is none. A number is a number, whichever."""
    if not all(isinstance(token, str) for token in inside):
        return []
    ends = "".join([str(token) for token in inside]).split("..")
    if len(ends) not in (2, 3) or not all(ends):
        return []
    if all(end.lstrip("+-").isdigit() for end in ends):
        return [[(TAME, "", False)]]
    if len(ends[0]) == len(ends[1]) == 1 and (ends[0] + ends[1]).isalnum():
        low, high = sorted((ord(ends[0]), ord(ends[1])))
        return [[chr(code)] for code in range(low, high + 1)]
    return []


def pieces_of(tokens: "list[Token]") -> "list[Piece]":
    pieces: list[Piece] = []
    letters: list[str] = []
    for token in [*tokens, None]:
        if isinstance(token, str):
            letters.append(token)
            continue
        if letters:
            pieces.append((TEXT, "".join(letters), False))
            letters = []
        if token is not None:
            pieces.append(token)
    return pieces
