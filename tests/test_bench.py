"""What `python -m bench` does without measuring."""

import pytest

from bench.__main__ import main


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--hlep", 2), ("nothing", 2)])
def test_a_bench_that_is_asked_for_help_measures_nothing(
    word: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([word])

    assert left.value.code == code
    said = capsys.readouterr()
    assert "usage: python -m bench" in said.out + said.err
    assert "measuring" not in said.err
