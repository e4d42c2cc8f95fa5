"""prompt.txt: what a new agent is told first. Who it is and where it may work it hears when its session starts."""

MARKER = "<ittybitty>You are an IttyBitty {role} agent.</ittybitty>"
TASK = "[USER TASK]"
LONGEST = 100_000  # bytes: the prompt is one word of a command line, which may hold 128 KiB


def text(role: str, custom: list[tuple[str, str]], task: str) -> str:
    """`custom`: (name, text) of the project's own instructions, `all` first."""
    parts = [MARKER.format(role=role)]
    parts += [f"{heading(name)}\n{said}" for name, said in custom]
    return "\n\n".join([*parts, f"{TASK}\n{task}"]) + "\n"


def heading(name: str) -> str:
    return "[CUSTOM INSTRUCTIONS]" if name == "all" else f"[CUSTOM {name.upper()} INSTRUCTIONS]"
