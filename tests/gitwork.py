"""Work in git as people and agents do it, and a look at all of a repository that must not have changed."""

from pathlib import Path

from tests.conftest import git


def commit(checkout: Path | str, name: str, text: str, message: str = "") -> str:
    """One file written and committed; the new commit's id."""
    path = Path(checkout, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(checkout, "add", "-f", "--", name)
    git(checkout, "commit", "-q", "-m", message or f"write {name}")
    return tip(checkout)


def tip(checkout: Path | str, ref: str = "HEAD") -> str:
    return git(checkout, "rev-parse", ref).strip()


def state(root: Path | str) -> tuple[object, ...]:
    """Refs, status and the bytes of every file that is not git's or ours."""
    top = Path(root)
    files = {
        str(path.relative_to(top)): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and not {".git", ".ittybitty"} & set(path.relative_to(top).parts)
    }
    refs = git(root, "for-each-ref", "refs/heads", "refs/tags")
    changes = [line for line in git(root, "status", "--porcelain").splitlines() if line != "?? .ittybitty/"]
    return git(root, "symbolic-ref", "HEAD"), refs, changes, files


def subjects(checkout: Path | str, *args: str) -> list[str]:
    return git(checkout, "log", "--format=%s", *args).splitlines()


def parents(checkout: Path | str, ref: str = "HEAD") -> list[str]:
    return git(checkout, "rev-list", "--parents", "-1", ref).split()[1:]
