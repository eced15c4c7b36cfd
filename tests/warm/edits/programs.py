"""Random programs of one file, whose running shows in what they print.

Loops in loops, branches, `with`, `try`, closures, methods, generators: what a function that is
left in the middle can stand in. The same seed always gives the same program.
"""

from __future__ import annotations

import random

NAMES = "abcde"
DEEP = 3  # blocks in blocks
HEAD = """\
import contextlib
a = b = c = d = e = 1
ticks = iter(range(400))
def tick():
    return next(ticks) >= 0
@contextlib.contextmanager
def cm(x):
    print('in', x)
    yield x
    print('out', x)
class Held:
    def __init__(self, x):
        self.x = x
    def __del__(self):
        print('gone', self.x)
class Base:
    def m(self, x):
        return x
class C(Base):
    def __init__(self):
        self.v = 0
    def m(self, x):
        a = b = c = d = e = 2
"""


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.functions: list[str] = []
        self.in_function = False

    def program(self) -> str:
        """All of it; only one that compiles."""
        while True:
            self.functions.clear()
            text = self._program()
            try:
                compile(text, "program", "exec", dont_inherit=True)
            except SyntaxError:  # a name that is used before it is declared
                continue
            return text

    def _program(self) -> str:
        lines = HEAD.splitlines()
        self.in_function = True
        lines += [*self._block(2, 1), "        return super().m(x)", "obj = C()"]
        lines += ["def gen(n):", "    a = b = c = d = e = 3", "    for i in range(2):"]
        lines += [*self._block(2, DEEP + 1), "        yield i"]
        for number in range(self.random.randrange(1, 4)):
            lines += [f"def f{number}(a, b=2, *c, d=3):", "    e = 4", *self._block(1, 0)]
            lines += [f"    return {self._expression()}"]
            self.functions.append(f"f{number}")
        lines += [
            "def main():",
            "    a = b = c = d = e = 5",
            *self._block(1, 0),
            *self._block(1, 0),
        ]
        self.in_function = False
        lines += [*self._block(0, 0), "if __name__ == '__main__':", "    main()"]
        return "\n".join([*lines, *self._block(0, 0)]) + "\n"

    def _number(self, below: int) -> int:
        return self.random.randrange(below)

    def _name(self) -> str:
        return self.random.choice(NAMES)

    def _expression(self, deep: int = 0) -> str:
        kind = self._number(10)
        if kind < 3 or deep > 1:
            return str(self._number(12) - 3)
        if kind < 6:
            return self._name()
        one = self._expression(deep + 1)
        if kind == 6 and self.functions:
            name = self.random.choice(self.functions)
            return f"{name}({one}, {self._expression(deep + 1)})"
        if kind == 7:
            return f"({one} + 1)" if self._number(5) else f"[{one} for q in range(2)]"
        if kind == 8:
            operator = self.random.choice(("+", "-", "*", "//"))
            return f"({one} {operator} {self._expression(deep + 1)})"
        return f"(lambda z: z + {self._name()})({one})"

    def _block(self, indent: int, deep: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self._number(3) + 1):
            lines += ["    " * indent + line for line in self._statement(deep)]
        return lines

    def _inner(self, deep: int) -> list[str]:
        return self._block(1, deep + 1)

    def _statement(self, deep: int) -> list[str]:
        if deep > DEEP or self._number(10) < 4:
            return self._simple()
        kinds = [self._if, self._for, self._for, self._while, self._leave, self._try, self._with]
        if self.in_function:
            kinds += [self._return, self._closure, self._generator]
        return self.random.choice(kinds)(deep)

    def _simple(self) -> list[str]:
        kind, value = self._number(12), self._expression()
        if kind < 4:
            return [f"{self._name()} = {value}"]
        if kind < 8:
            self.count += 1
            return [f"print('p{self.count}', {value}, {self._expression()})"]
        if kind == 8:
            return [f"obj.v = {value}", f"print(obj.m({self._expression()}))"]
        if kind == 9:
            name = self._name()
            return [f"{name} = Held({self._number(9)})", "print('held')", f"{name} = {value}"]
        if kind == 10 and not self._number(4):
            return [f"del {self._name()}"]
        return [f"{self._name()} += 1"]

    def _if(self, deep: int) -> list[str]:
        lines = [f"if {self._expression()} > {self._number(4)}:", *self._inner(deep)]
        return [*lines, "else:", *self._inner(deep)] if self._number(2) else lines

    def _for(self, deep: int) -> list[str]:
        lines = [f"for {self._name()} in range({self._number(3) + 1}):", *self._inner(deep)]
        return lines if self._number(3) else [*lines, "else:", *self._inner(deep)]

    def _while(self, deep: int) -> list[str]:
        self.count += 1
        name = f"w{self.count}"
        head = [f"{name} = 0", f"while {name} < {self._number(2) + 1} and tick():"]
        return [*head, f"    {name} += 1", *self._inner(deep)]

    def _leave(self, deep: int) -> list[str]:
        word = self.random.choice(("break", "continue"))
        test = f"    if {self._expression()} == {self._number(3)}:"
        head = f"for {self._name()} in range(3):"
        return [head, *self._inner(deep), test, f"        {word}", *self._inner(deep)]

    def _try(self, deep: int) -> list[str]:
        caught = self.random.choice(("ZeroDivisionError", "TypeError", "Exception"))
        lines = ["try:", *self._inner(deep), f"except {caught} as err:"]
        lines += ["    print('caught', type(err).__name__)", *self._inner(deep)]
        return lines if self._number(3) else [*lines, "finally:", "    print('fin')"]

    def _with(self, deep: int) -> list[str]:
        return [f"with cm({self._number(9)}) as {self._name()}:", *self._inner(deep)]

    def _return(self, _: int) -> list[str]:
        return [f"if {self._expression()} > 6:", f"    return {self._expression()}"]

    def _closure(self, _: int) -> list[str]:
        self.count += 1
        name = f"in{self.count}"
        does = ["    nonlocal a", "    a = x"] if self._number(2) else ["    return a + x"]
        return [f"def {name}(x=1):", *does, f"{self._name()} = {name}({self._expression()})"]

    def _generator(self, deep: int) -> list[str]:
        return [f"for {self._name()} in gen({self._expression()}):", *self._inner(deep)]
