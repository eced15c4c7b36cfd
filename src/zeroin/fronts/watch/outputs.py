"""The three ways to show samples: on a screen, as plain lines, as JSON."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol

from zeroin.fronts import words
from zeroin.fronts.watch import cells, layout, rows

if TYPE_CHECKING:
    from zeroin.fronts.watch.look import Look
    from zeroin.fronts.watch.screen import Screen
    from zeroin.tools.watch import Frame, Session
    from zeroin.tools.watch.things import Panel

KEYS = ("q quit", "? help", "s sort", "space pause", "p forget peaks")
HELP = """\
q  Ctrl-C    leave, and print the peaks
s            sort processes: memory, cpu, age, pid
space        hold the screen still; looking goes on
p            forget peaks: they count from now on
t            show processes as trees
+  -         look more seldom, more often
?            this help; any key takes it away

memory       resident (RSS); pages shared with others count in each process
peak         the kernel's own mark: what is between two looks counts, too
read, write  through every kind of file, cached or not; sockets and pipes included
–            not ours to know: another user's process, or an old kernel"""


class Output(Protocol):
    """Where samples go."""

    def show(self, frame: Frame) -> None:
        """One moment."""

    def show_commands(self, frame: Frame) -> None:
        """A command has ended."""


class Painted:
    """On the screen."""

    def __init__(self, screen: Screen, session: Session, look: Look, *, top: int | None) -> None:
        self.screen = screen
        self._top = top
        self.session = session
        self.look = look
        self.paused = False
        self.help = False
        self.note = ""  # what goes wrong meanwhile
        self._frame: Frame | None = None

    def show(self, frame: Frame) -> None:
        """Unless it is to stand still."""
        if not self.paused:
            self._frame = frame
        self.again()

    show_commands = show

    def again(self) -> None:
        """Paint the last one, in today's size."""
        if self._frame is None or not self.screen.open():
            return
        width, height = self.screen.size()
        self._fit(width, height)
        keys = KEYS if self.screen.fileno() >= 0 else ("Ctrl-C leaves",)
        first = layout.head(self._title(self._frame), keys, width, self.look)
        if self.help:
            body = [cells.fit(self.look.plain(line), width) for line in HELP.splitlines()]
        else:
            body = layout.drawn(self._frame.panels, width, max(1, height - 2), self.look)
        self.screen.show([first, "", *body][:height])

    def _fit(self, width: int, height: int) -> None:
        """Commands are told how much room there is; of processes no more are looked at closely."""
        shown = self._frame.panels if self._frame else []
        widths = {
            panel.what: size
            for row in layout.rows(shown, width, len(self.look.between))
            for panel, size in row
        }
        for command in self.session.commands:
            command.columns = widths.get(command.what, width)
            command.rows = max(1, height - 3)
        if self._top is None:
            self.session.choose(top=max(3, height - 5))

    def _title(self, frame: Frame) -> str:
        at = time.strftime("%H:%M:%S", time.localtime(frame.stamp))
        parts = [f"zeroin watch · every {self.session.interval:g} s · {at}"]
        if self.paused:
            parts.append("PAUSED")
        if self.session.processes:
            parts.append(f"by {self.session.processes[0].choice.sort}")
        if self.note:
            parts.append(self.note)
        return " · ".join(parts)


class Lines:
    """A line for each thing: for pipes, logs and grep."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}  # panel → how many of its processes have ended
        self._messages: dict[int, str] = {}

    def show(self, frame: Frame) -> None:
        """Everything but commands, which are told when they end."""
        at = time.strftime("%H:%M:%S", time.localtime(frame.stamp))
        for number, panel in enumerate(frame.panels):
            if panel.kind == "command":
                continue
            for line in rows.endings(panel, self._told.get(number, 0)):
                words.put(f"{at} {line}")
            self._told[number] = panel.gone
            message = panel.message
            if panel.kind != "cpu" and message == self._messages.get(number, ""):
                panel = panel._replace(message="")  # noqa: PLW2901 - told already
            self._messages[number] = message
            for line in rows.plain(frame._replace(panels=[panel])):
                words.put(line)
        sys.stdout.flush()

    def show_commands(self, frame: Frame) -> None:
        """What they printed."""
        commands = [panel for panel in frame.panels if panel.kind == "command"]
        for line in rows.plain(frame._replace(panels=commands)):
            words.put(line)
        sys.stdout.flush()


class Objects:
    """An object a line."""

    def show(self, frame: Frame) -> None:
        """Everything but commands, which are told when they end."""
        self._put(frame, [panel for panel in frame.panels if panel.kind != "command"])

    def show_commands(self, frame: Frame) -> None:
        """What they printed."""
        self._put(frame, [panel for panel in frame.panels if panel.kind == "command"])

    def put_all(self, frame: Frame) -> None:
        """Everything in one object."""
        self._put(frame, frame.panels)

    def _put(self, frame: Frame, panels: list[Panel]) -> None:
        if panels:
            words.put_json(rows.as_json(frame._replace(panels=panels)))
            sys.stdout.flush()
