"""A splice changes its own bytes and no others."""

from hypothesis import given
from hypothesis import strategies as st

from ibstatus.system.text.splices import Splice, applied, inverse


@given(st.binary(), st.binary(), st.binary(), st.binary())
def test_every_other_byte_is_kept(before: bytes, old: bytes, after: bytes, new: bytes) -> None:
    text = before + old + after
    splice = Splice(len(before), len(before) + len(old), new)

    result = applied(text, splice)

    assert result == before + new + after
    assert splice.fits == (len(result) == len(text))
    assert applied(result, inverse(text, splice)) == text
