"""Which warnings to give after a cell has run, each situation once.

A warning that is wrong is worse than one that is missing: only what the code and the saved
notebook show for certain is said.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .document import Document
    from .history import History, Run, Stale


class Warner:
    """Remembers what was said."""

    def __init__(self, history: History, document: Document) -> None:
        self.history = history
        self.document = document
        self._said: set[tuple[str, ...]] = set()

    def after(self, run: Run) -> list[str]:
        """The lines to say after this run."""
        lines = [*self._twice(run), *self._built_on(run), *self._stale()]
        if self.document.read():
            lines += [*self._order(run), *self._unsaved(run)]
        return lines

    def has_something(self, run: Run) -> bool:
        """Whether there would be a line; it counts as not said."""
        said = set(self._said)
        found = bool(self.after(run))
        self._said = said
        return found

    def _once(self, *what: str) -> bool:
        new = what not in self._said
        self._said.add(what)
        return new

    def _twice(self, run: Run) -> list[str]:
        """`x += 1` was run twice."""
        names = sorted(name for name in run.runs_on_itself if name not in _freshly_given(run))
        if not names or not self._once("twice", run.key):
            return []
        text = " and ".join(names[:3])
        return [
            (
                f"⚠ cell [{run.number}] changed {text} once more, starting from its own earlier "
                "result: a fresh run changes it once"
            )
        ]

    def _stale(self) -> list[str]:
        """Cells whose inputs were made anew; those that hang on them come along in the line."""
        groups: dict[tuple[str, str, int, str], list[Stale]] = {}
        for one in self.history.stale():
            if self._once("stale", one.run.key, str(one.run.number)) and one.now is not None:
                where = (one.name, one.reason, one.now.number, str(one.provider.number))
                groups.setdefault(where, []).append(one)
        return [self._stale_line(group) for group in groups.values()]

    def _stale_line(self, group: list[Stale]) -> str:
        first = group[0]
        cells = [one.run.number for one in group]
        below = self.history.depend_on({one.run.key for one in group})
        for run in below:
            self._once("stale", run.key, str(run.number))
        also = f", then {_numbers([run.number for run in below])}" if below else ""
        number = first.now.number if first.now else 0
        happened = {
            "edited": f"which was edited and re-run as [{number}]",
            "rerun": f"which was re-run as [{number}] on other values",
            "gone": f"which was edited, and re-run as [{number}] makes it no more",
        }[first.reason]
        plural = "s" if len(cells) > 1 else ""
        return (
            f"⚠ cell{plural} {_numbers(cells)} used {first.name} from cell "
            f"[{first.provider.number}], {happened}: run {_numbers(cells)} again{also}"
        )

    def _built_on(self, run: Run) -> list[str]:
        """This run took something from a cell that is out of date, and was said to be."""
        *before, _ = self.history.overdue().get(run.key, [run])
        if not before:
            return []
        provider = before[-1]
        name = next(name for name, value in run.inputs.items() if value.run is provider)
        if not self._once("built", run.key, provider.key, str(provider.number)):
            return []
        again = f"run {_numbers([one.number for one in before])}, then this one again"
        return [f"{_used(run, name, provider)}, which is out of date: {again}"]

    # --- what only the notebook's file can tell ---------------------------------------------------

    def _order(self, run: Run) -> list[str]:
        for name, provider, happened, remedy in self.disorder(run):
            if self._once("order", run.key, name, provider.key):
                return [f"{_used(run, name, provider)}, {happened}: {remedy}"]
        return []

    def disorder(self, run: Run) -> Iterator[tuple[str, Run, str, str]]:
        """Names from another cell than the one that a fresh run would take them from."""
        places = self._places()
        here = places.get(run.key)
        if here is None:
            return
        for name, value in run.inputs.items():
            of = places.get(value.run.key)
            if of is None or value.run.key == run.key:
                continue
            above = [
                other
                for other in self.history.last.values()
                if name in other.outputs and places.get(other.key, here) < here
            ]
            fresh = max(above, key=lambda other: places[other.key], default=None)
            if fresh is not None and fresh.key == value.run.key:
                continue
            if fresh is not None:
                again = f"run [{fresh.number}], then this one again"
                yield name, value.run, f"a fresh run takes it from [{fresh.number}]", again
            elif of > here:
                lacks = "a fresh run does not have it here"
                yield name, value.run, "which stands below it", lacks

    def _places(self) -> dict[str, int]:
        """Positions of the cells that were run; two that share one have none."""
        found: dict[str, int] = {}
        taken: dict[int, str] = {}
        for run in self.history.last.values():
            at = self.document.place(run.key, run.source)
            if at is None:
                continue
            if at in taken:
                found.pop(taken[at], None)
                continue
            found[run.key], taken[at] = at, run.key
        return found

    def _unsaved(self, run: Run) -> list[str]:
        """A cell that this one took something from was edited or deleted, and not run since."""
        remedies = {
            "deleted": "a fresh run does not have it",
            "edited and not run since": f"run it, then [{run.number}] again",
        }
        for name, value in run.inputs.items():
            provider = value.run
            happened = "" if provider.key == run.key else self.changed(provider)
            text = dict(self.document.cells).get(provider.key, "")
            if happened and self._once("unsaved", run.key, provider.key, text):
                remedy = remedies[happened]
                return [f"{_used(run, name, provider)}, which was {happened}: {remedy}"]
        return []

    def changed(self, run: Run) -> str:
        """What has happened to the cell in the file since it ran; "" if nothing."""
        if self.document.saved <= run.when:
            return ""
        text = {name: text for name, text in self.document.cells if name}.get(run.key)
        if text is None:
            return "deleted" if run.key in self.document.seen else ""
        return "" if _same_code(text, run.source) else "edited and not run since"

    def notes(self, run: Run) -> list[str]:
        """What the file tells of a cell, whether it was said or not."""
        if not self.document.read():
            return []
        found = [self.changed(run)]
        for name, provider, happened, _ in self.disorder(run):
            found.append(f"{name} is from [{provider.number}], {happened}")
        for name, value in run.inputs.items():
            happened = "" if value.run.key == run.key else self.changed(value.run)
            if happened:
                found.append(f"{name} is from [{value.run.number}], which was {happened}")
        return [one for one in found if one]


def _used(run: Run, name: str, provider: Run) -> str:
    return f"⚠ cell [{run.number}] used {name} from cell [{provider.number}]"


def _freshly_given(run: Run) -> set[str]:
    """Names that the cell sets before it changes them."""
    return {name for name in run.runs_on_itself if name not in run.inputs}


def _same_code(one: str, other: str) -> bool:
    import ast

    if one.strip() == other.strip():
        return True
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError):
        return False


def _numbers(numbers: list[int]) -> str:
    texts = [f"[{number}]" for number in numbers]
    if len(texts) > 4:
        return f"{', '.join(texts[:3])} and {len(texts) - 3} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
