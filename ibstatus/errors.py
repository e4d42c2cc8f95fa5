"""What a user is told when something cannot be done: a sentence, its cause, and what to type next."""


class IbError(Exception):
    """An expected failure: exit 1."""

    code = 1

    def __init__(self, message: str, *, hint: str = "", cause: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.cause = cause


class UsageError(IbError):
    """The words on the command line are wrong: exit 2."""

    code = 2


class DiskError(IbError):
    """The operating system refused a file operation."""


def told(error: IbError) -> str:
    """The text for stderr: Error, Caused by, Hint, a line each."""
    lines = [f"Error: {visible(sentence(error.message))}"]
    if error.cause:
        lines.append(f"Caused by: {visible(error.cause)}")
    if error.hint:
        lines.append(f"Hint: {visible(error.hint)}")
    return "\n".join(lines) + "\n"


def logged(error: Exception) -> str:
    """For a log: what was expected in its words, a bug of ours with its traceback."""
    if isinstance(error, IbError | OSError):
        return getattr(error, "message", "") or str(error)
    import traceback

    return "".join(traceback.format_exception(error))


def quoted(text: object) -> str:
    """For a hint that is pasted into a shell: what a file or an agent put in cannot become a command."""
    word = str(text)
    plain = word.replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    return word if plain.isascii() and plain.isalnum() else "'" + word.replace("'", "'\\''") + "'"


def visible(text: str) -> str:
    """What an agent or a file put into a message cannot steer the terminal."""
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else char.encode("unicode_escape").decode() for char in text])


def sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ")")) else text + "."


def refused(doing: str, error: OSError) -> DiskError:
    """An OSError in the user's words; `doing` completes 'Could not …'."""
    import errno

    hints = {
        errno.ENOSPC: "free some space, then run the command again",
        errno.EDQUOT: "free some of your quota, then run the command again",
        errno.EROFS: "make it writable; in Claude's sandbox sandbox.filesystem.allowWrite needs its full path",
        errno.EACCES: "ib doctor",
        errno.EPERM: "ib doctor",
        errno.EMFILE: "raise the limit: ulimit -n 1024",
    }
    name = error.filename
    if isinstance(name, bytes):
        name = name.decode("utf-8", "replace")
    where = f" ({name})" if name else ""
    return DiskError(
        f"Could not {doing}", cause=f"{error.strerror or error}{where}", hint=hints.get(error.errno or 0, "")
    )
