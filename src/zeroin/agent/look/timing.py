"""`section` around a block or a function, and `sections()` for all that was measured.

As a decorator it goes by what the function is: a coroutine is measured until it is done, a
generator only while it works, not while it waits for whoever takes its elements.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial, wraps

from . import calls, out, spans, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

DESCRIPTORS = (classmethod, staticmethod, property)
COROUTINE, GENERATOR, ASYNC_GENERATOR = 0x80, 0x20, 0x200  # flags of a code object


def section(name: Any = None, *, quiet: bool = False) -> Any:
    """Measure what a block or each call of a function takes; a function alone may be given.

    A line is printed at each end, unless `quiet`; `sections()` prints the table of all.
    """
    if callable(name) or isinstance(name, DESCRIPTORS):
        return Section(_name_of(name), quiet, _place())(name)
    if not sections.is_on and name is not None:
        return Section(str(name), quiet, "")  # nothing here that `torch.compile` stops at
    out.not_compiled()
    where = _place()
    return Section(where.partition(" ")[0] if name is None else str(name), quiet, where)


@out.not_traced
def _place() -> str:
    return calls.place(sys._getframe(2))


def _function_of(made: Any) -> Any:
    """Give the function inside a method of a class, a property or a partial one."""
    while isinstance(made, (*DESCRIPTORS, partial)):
        inner = "fget" if isinstance(made, property) else "__func__"
        made = made.func if isinstance(made, partial) else getattr(made, inner)
    return made


def _name_of(made: Any) -> str:
    """With its class: `forward` of one that calls `forward` of another is no recursion."""
    function = _function_of(made)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


class Section:
    """A section that may run often, also in itself and in several threads."""

    def __init__(self, name: str, quiet: bool, where: str) -> None:
        self.name = name if name.isprintable() else repr(name)[1:-1]
        self.quiet = quiet
        self.where = where
        self._running: list[Any] = []

    def __repr__(self) -> str:
        return f"<section {self.name}>"

    def __enter__(self) -> Any:
        self._running.append(self._begin() if sections.is_on else None)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not sections.is_on and self._running[-1:] == [None]:
            self._running.pop()
            return
        # Threads and tasks may share a section: the one that ends is the one that we are in.
        here = spans.current.get()
        ours = [at for at, span in enumerate(self._running) if span is here]
        if self._running:
            self._end(self._running.pop(ours[-1] if ours else -1), kind)

    async def __aenter__(self) -> Any:
        return self.__enter__()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.__exit__(kind)

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Measure each call of a function."""
        if isinstance(function, property):
            return function.getter(self(function.fget))
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(self(function.__func__))
        if isinstance(function, type) or not callable(function):
            kind = "class" if isinstance(function, type) else type(function).__name__
            raise TypeError(f"section measures functions and blocks, not a {kind}")
        flags = getattr(getattr(_function_of(function), "__code__", None), "co_flags", 0)
        for flag, wrap in _WRAPS:
            if flags & flag:
                return wrap(self, function)
        return _plain(self, function)

    def _begin(self) -> Any:
        if not sections.is_on:
            return None
        try:
            span = spans.Span(self.name, self.where)
            span.begin()
            spans.current.set(span)
        except Exception:  # no memory, no files: the program goes on
            return None
        return span

    def _end(self, span: Any, kind: Any) -> None:
        if span is None or span.pid != os.getpid():
            return  # off, or begun in the process that this one was forked from
        try:
            error = "" if kind is None or kind is GeneratorExit else str(kind.__name__)
            row = span.end(error)
            if spans.current.get() is span:  # or one that began inside it goes on
                spans.current.set(span.parent)
            if not self.quiet:
                spans.say(row)
        except Exception:
            return


class _Run:
    """One run of a decorated function: a section that is entered once."""

    __slots__ = ("section", "span")

    def __init__(self, section: Section) -> None:
        self.section = section

    def __enter__(self) -> Any:
        self.span = self.section._begin()
        return self.span

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.section._end(self.span, kind)


def _plain(section: Section, function: Any) -> Any:
    @wraps(function)
    def measured(*args: Any, **named: Any) -> Any:
        with _Run(section):
            return function(*args, **named)

    return measured


def _coroutine(section: Section, function: Any) -> Any:
    @wraps(function)
    async def measured(*args: Any, **named: Any) -> Any:
        with _Run(section):
            return await function(*args, **named)

    return measured


def _generator(section: Section, function: Any) -> Any:
    @wraps(function)
    def measured(*args: Any, **named: Any) -> Any:
        with _Run(section) as span:
            return (yield from _Steps(function(*args, **named), span))

    return measured


def _async_generator(section: Section, function: Any) -> Any:
    @wraps(function)
    async def measured(*args: Any, **named: Any) -> Any:
        with _Run(section) as span:
            inner = function(*args, **named)
            clock = _Clock(span)
            step = inner.asend(None)
            while True:
                try:
                    clock.start()
                    item = await step
                except StopAsyncIteration:
                    return
                finally:
                    clock.stop()
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:  # thrown in: the generator may handle it
                    step = inner.athrow(error)
                else:
                    step = inner.asend(sent)

    return measured


_WRAPS = ((COROUTINE, _coroutine), (ASYNC_GENERATOR, _async_generator), (GENERATOR, _generator))


class _Clock:
    """Adds up the time of the steps of a generator, and makes them the span's own."""

    def __init__(self, span: Any) -> None:
        self.span = span
        self.begun = (0.0, 0.0)
        self.outside: Any = None  # the span that whoever takes the elements is in
        if span is not None:
            span.spent = (0.0, 0.0)
            spans.current.set(span.parent)

    def start(self) -> None:
        if self.span is not None:
            self.outside = spans.current.get()
            spans.current.set(self.span)
            self.begun = (time.perf_counter(), self.span.cpu_clock())

    def stop(self) -> None:
        span = self.span
        if span is not None and span.spent is not None:
            now = (time.perf_counter(), span.cpu_clock())
            span.spent = tuple(
                had + after - before for had, before, after in zip(span.spent, self.begun, now)
            )
            spans.current.set(self.outside)


class _Steps:
    """A generator whose steps are timed; `yield from` passes everything on to it."""

    def __init__(self, inner: Any, span: Any) -> None:
        self.inner = inner
        self.clock = _Clock(span)

    def __iter__(self) -> _Steps:
        return self

    def __next__(self) -> Any:
        return self._step(self.inner.__next__)

    def send(self, value: Any) -> Any:
        return self._step(self.inner.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self.inner.throw, *error)

    def close(self) -> None:
        self._step(self.inner.close)

    def _step(self, go: Callable[..., Any], *args: Any) -> Any:
        self.clock.start()
        try:
            return go(*args)
        finally:
            self.clock.stop()


class _Rows(list):  # type: ignore[type-arg]
    """Rows that were printed already: a prompt that shows them again would say it twice."""

    def __repr__(self) -> str:
        return f"<{len(self)} section{'s' * (len(self) != 1)}>"


def _innermost(rows: list[Any]) -> list[Any]:
    """Leave out those whose growth is that of a section inside them."""
    grow = [row for row in rows if row.verdict]
    return [
        row
        for row in grow
        if not any(
            len(other.path) > len(row.path) and other.path[: len(row.path)] == row.path
            for other in grow
        )
    ]


class Sections:
    """`sections()`: the table of all sections of this process, and its data."""

    def __init__(self) -> None:
        self.is_on = out.is_on()

    def __call__(self, *, quiet: bool = False) -> list[Any]:
        """Print the table, unless `quiet`, and return its rows."""
        rows = spans.book().rows()
        if not quiet and self.is_on:
            verdicts = [f"{row.name} {row.verdict}" for row in _innermost(rows)]
            out.say(table.table(rows, verdicts, out.label()))
        return _Rows(rows)

    def clear(self) -> None:
        """Begin anew."""
        spans.book().clear()

    def exact(self) -> None:
        """Set the counters of peaks back at each beginning, so that each section has its own.

        Who else reads them, as `getrusage` does, gets the most since then.
        """
        spans.may_reset = True

    def off(self) -> None:
        """Measure nothing from now on."""
        self.is_on = False

    def on(self) -> None:
        """Measure again."""
        self.is_on = True

    def __repr__(self) -> str:
        return "<function zeroin.sections>"


sections = Sections()
