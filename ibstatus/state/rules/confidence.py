"""How far one piece of evidence can be trusted. `evidence.judge` asks the sure ones first, the weak ones last."""

from ibstatus.state.rules import evidence
from ibstatus.state.rules.evidence import Evidence

SURE, STRONG, WEAK = "sure", "strong", "weak"


def of(one: Evidence, now: float) -> str:
    """'' of what says nothing. tmux and the kernel cannot be wrong; a screen is drawn over, a hook's word grows old."""
    if not one.state:
        return ""
    if one.source in (evidence.SESSION, evidence.PROCESS):
        return SURE
    if one.source == evidence.SCREEN:
        return of_screen(one, now)
    if one.source == evidence.HOOKS:
        return WEAK if one.state in evidence.WORKING and now - one.at >= evidence.STILL else STRONG
    return WEAK


def of_screen(one: Evidence, now: float) -> str:
    """A prompt line counts once it has held; what was seen long ago, or is not known, says little."""
    if one.state == "unknown" or now - one.seen >= evidence.LONG:
        return WEAK
    return WEAK if one.idle and one.seen - one.at < evidence.HELD else STRONG
