"""The front door: a hot command goes straight in, everything else to the click commands."""

import sys

HOT = ("notify", "send", "acknowledge", "ack", "log")


def main(argv: list[str]) -> int:
    if argv and argv[0] in HOT:
        from ibstatus.cli import plain

        code = plain.run(argv)
        if code is not None:
            return code
    from ibstatus.cli import app

    return app.main(argv)


def script() -> None:
    """Leaves without taking the interpreter apart, which would cost a third of a hot command."""
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
    import posix

    posix._exit(code)


if __name__ == "__main__":
    script()
