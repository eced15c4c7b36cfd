"""What the program under an engine has told of itself since it was started or resumed."""

from __future__ import annotations

from zeroin.run.warm import wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANOTHER = "another Python ran before it in the same command"


class ProgramFacts:
    """The files it used, where snapshots end, and whether it is all of what was started."""

    def __init__(self) -> None:
        self.used: set[str] = set()  # the files that the program depends on
        self.gate: tuple[str, str] | None = None  # since where there are no snapshots, and why
        self.retreated: tuple[int | None, str] | None = None  # the last run can't be trusted
        self.profile: list[dict[str, Any]] = []  # what each statement took, of the last run
        self.through = ""  # what waits for the program, if that is not us
        self.below = ""  # why the program is not all of what was started
        self._speaks = 0  # the process of the run that has spoken
        self._uses_anew = True

    def begin_cold(self) -> None:
        """Take what comes next for another program's; its files are watched until it speaks."""
        self.through = ""
        self._uses_anew = True

    def forget_run(self) -> None:
        """Drop what belongs to the run before."""
        self.gate = self.retreated = None
        self.below = ""
        self._speaks = 0
        self.profile = []

    def note_speaker(self, message: dict[str, Any], started: int) -> bool:
        """Learn which process speaks; whether it is another than spoke before.

        `started` is the process of the run; 0 if there is none. `below` then says why the program
        can't be gone on with, because of what started it.
        """
        pid = int(message.get("pid") or 0)
        if not started or not pid or self.below:
            return False
        is_another = self._speaks not in (0, pid)
        if is_another:
            self.below = ANOTHER
        elif pid not in (self._speaks, started):
            name, self.through = wrapper.between(pid, started)
            self.below = f"{name} started it, and may do more than that" if name else ""
        self._speaks = pid
        return is_another

    def note_gate(self, message: dict[str, Any]) -> None:
        """Learn since where there are no snapshots, or that there are some again."""
        at, reason = message.get("at"), self.below or message.get("reason")
        self.gate = (str(at or ""), str(reason)) if reason else None

    def note_used(self, message: dict[str, Any]) -> None:
        """Learn which files were used.

        Until a new program speaks, the old one's files are watched; at its end it says all, and
        leaves out what it wrote after it had told of it.
        """
        if self._uses_anew or (message.get("all") and not self.below):
            self.used = set()
            self._uses_anew = False
        self.used.update(filter(None, map(str, message.get("files") or ())))

    def note_retreat(self, message: dict[str, Any]) -> int:
        """Learn that the run can't go on soundly; the newest snapshot that is still good, or -1."""
        to = message.get("to")
        reason = str(message.get("reason") or "it can't go on soundly")
        self.retreated = (to if isinstance(to, int) else None, reason)
        return to if isinstance(to, int) else -1

    def note_profile(self, message: dict[str, Any]) -> None:
        """Learn what each statement took."""
        self.profile = [row for row in message.get("rows") or () if isinstance(row, dict)]
