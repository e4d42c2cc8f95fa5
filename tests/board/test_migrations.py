"""Which files a database still lacks, and which databases are refused."""

from pathlib import Path

import pytest

from ibstatus.board import migrations
from ibstatus.errors import IbError

ONE, TWO, THREE = (migrations.read(f"00{n}_x.sql", b"SELECT %d;" % n) for n in (1, 2, 3))


def test_files_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("010_c.sql", "002_b.sql", "001_a.sql", "1_no.sql", "001_no.txt", "__init__.py", "003_no.sql.orig"):
        (tmp_path / name).write_text(f"-- {name} é")

    found = migrations.of(str(tmp_path))

    assert [one.filename for one in found] == ["001_a.sql", "002_b.sql", "010_c.sql"]
    assert found[0].sql == "-- 001_a.sql é"
    assert len({one.checksum for one in found}) == 3


def applied(*those: migrations.Migration) -> dict[str, str]:
    return {one.filename: one.checksum for one in those}


def test_what_is_not_applied_yet_is_missing() -> None:
    assert migrations.missing([ONE, TWO], {}) == [ONE, TWO]
    assert migrations.missing([ONE, TWO], applied(ONE)) == [TWO]
    assert migrations.missing([ONE, TWO], applied(ONE, TWO)) == []


@pytest.mark.parametrize(
    ("there", "match"),
    [
        (applied(ONE, TWO, THREE), "newer"),
        ({**applied(ONE), "002_y.sql": TWO.checksum}, "newer"),
        ({**applied(ONE), TWO.filename: "changed"}, "another build"),
    ],
)
def test_a_database_that_went_another_way_is_refused(there: dict[str, str], match: str) -> None:
    with pytest.raises(IbError, match=match) as refused:
        migrations.missing([ONE, TWO], there)

    assert refused.value.hint
    assert refused.value.cause
