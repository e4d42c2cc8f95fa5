"""The front door: a hot command goes straight in, everything else to the click commands."""

import sys

HOT = ("notify", "send", "acknowledge", "ack", "log")
LISTS = (["list", "--json"], ["ls", "--json"])


def main(argv: list[str]) -> int:
    if argv and argv[0] in HOT:
        from ibstatus.cli import fast

        code = fast.run(argv)
        if code is not None:
            return code
    if argv in LISTS:
        from ibstatus.cli import fast_list

        code = fast_list.run(argv)
        if code is not None:
            return code
    from ibstatus.cli import app

    return app.main(argv)


def script() -> None:
    """Leaves without taking the interpreter apart, which would cost a third of a hot command."""
    import posix

    try:
        from ibstatus.system import disk

        for number in (0, 1, 2):
            try:
                disk.fstat(number)
            except OSError:  # closed by the caller: no file of ours may get its number, so nothing writes into it
                disk.open("/dev/null", disk.O_RDONLY)
        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # before a command could hear it: modules are still being imported
        code = 130
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError, KeyboardInterrupt):
            pass
    posix._exit(code)


if __name__ == "__main__":
    script()
