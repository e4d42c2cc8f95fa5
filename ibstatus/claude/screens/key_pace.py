"""One key for a dialog, and no second one before what it did was seen: a client that is slow to read would take both,
and the list goes round. What is drawn is not yet what it goes by: a key that comes at once still means the old."""

from ibstatus.claude.screens.dialogs import Dialog

LOST = 5.0  # seconds without any change on the screen; a client that has just begun throws away what it is sent
SETTLED = 0.5


class Pace:
    """What was pressed last in one session. Times are of one clock."""

    def __init__(self) -> None:
        self.seen: Dialog | None = None
        self.since = 0.0
        self.before: Dialog | None = None
        self.at = 0.0
        self.doubled = False

    def is_free(self, dialog: Dialog, now: float) -> bool:
        """May the next key be pressed into this dialog? After one that seemed lost, not until that is certain."""
        if dialog != self.seen:
            self.seen, self.since = dialog, now
        if now - self.since < SETTLED:
            return False
        if self.before is None:
            return True
        return now - self.at >= LOST or (dialog != self.before and not self.doubled)

    def pressed(self, dialog: Dialog, now: float) -> None:
        self.doubled = dialog == self.before
        self.before, self.at = dialog, now
