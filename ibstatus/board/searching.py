"""What of a task a search finds. Here, and not in SQL: both stores mean the same by a word and by its case."""

from collections.abc import Iterable

from ibstatus.board.rules import validation

AROUND = 60


def words(query: str) -> list[str]:
    return query.casefold().split()


def found(wanted: list[str], texts: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """(where, snippet) of the text that holds most of the words, the first of these; None when one is in none of them.

    `texts` are (where, text), the most telling first."""
    missing, best, where, snippet = set(wanted), 0, "", ""
    for place, text in texts:
        here = [word for word in wanted if word in text.casefold()]
        missing -= set(here)
        if len(here) > best:
            best, where, snippet = len(here), place, around(text, here[0])
    return (where, snippet) if wanted and not missing else None


def around(text: str, word: str) -> str:
    """One line with the word in it. Folding can change a text's length: then it is only about there."""
    at = max(0, text.casefold().find(word))
    start = max(0, at - AROUND)
    piece = " ".join(text[start : at + len(word) + AROUND].split())
    return ("…" if start else "") + validation.cut(piece, 2 * AROUND + len(word))
