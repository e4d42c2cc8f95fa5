"""Patterns with `*`: one star is any text, in linear steps, whatever the pattern."""


def matches(pattern: str, text: str, star: str = "*", one: str = "") -> bool:
    """Is `text` the pattern with each star any text (and each `one` any letter)?"""
    at = begin = 0
    back = -1
    while at < len(text):
        char = pattern[begin] if begin < len(pattern) else ""
        if char == star and char:
            back, begin, kept = begin, begin + 1, at
        elif char and (char == text[at] or char == one):
            begin += 1
            at += 1
        elif back >= 0:
            kept += 1
            begin, at = back + 1, kept
        else:
            return False
    return pattern[begin:].strip(star) == ""


def path_matches(pattern: str, path: str) -> bool:
    """`**` is any number of folders, `*` and `?` stay within a name; a pattern of a folder is all that is below it."""
    parts, names = pattern.strip("/").split("/"), path.strip("/").split("/")
    at = begin = 0
    back = -1
    kept = 0
    while at < len(names):
        part = parts[begin] if begin < len(parts) else ""
        if part == "**":
            back, begin, kept = begin, begin + 1, at
        elif begin == len(parts) and parts[-1] != "**":
            return True
        elif part and matches(part, names[at], one="?"):
            begin += 1
            at += 1
        elif back >= 0:
            kept += 1
            begin, at = back + 1, kept
        else:
            return False
    return all(part == "**" for part in parts[begin:])
