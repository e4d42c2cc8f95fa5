"""The recorded screens that are shipped: two versions of the client, a file each."""

import os

FOLDER = f"{os.path.dirname(__file__)}/pictures"


def named(name: str) -> str:
    """`69`, `2.1.197/05` or `trust`: the newest version's first file that has it in its name; else a note."""
    version, slash, part = name.rpartition("/")
    for folder in [version] if slash else sorted(os.listdir(FOLDER), reverse=True):
        if folder not in os.listdir(FOLDER):
            break
        for file in sorted(os.listdir(f"{FOLDER}/{folder}")):
            if part in file:
                with open(f"{FOLDER}/{folder}/{file}", encoding="utf-8") as opened:
                    return opened.read()
    return f"fake-claude: no screen was recorded with {name} in its name\n"
