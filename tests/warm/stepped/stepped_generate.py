"""Random programs over the grammar, the same for the same seed.

    python stepped_generate.py SEED COUNT MINOR     prints a file of functions for Python 3.MINOR

Every function prints what it does as it goes, so that a step out of order shows. A file calls each
of its functions and prints the traceback where one fails; the last one ends the program.
Loops are bounded and nothing depends on addresses or time, so that two runs are equal.
"""

from __future__ import annotations

import random
import sys

ERRORS = ["ValueError", "KeyError", "IndexError", "TypeError", "LookupError", "OSError"]
DEPTH = 4  # blocks within blocks
HEAD = """\
import contextlib
import sys
import traceback


class Err(Exception):
    pass


class Ctx:
    def __init__(self, name, swallow=()):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind and kind.__name__, tb and tb.tb_lineno)
        return kind is not None and issubclass(kind, tuple(self.swallow))


def show(*values):
    print(sys._getframe(1).f_lineno, *values)
    return values[-1] if values else None


def items(n, name):
    try:
        for i in range(n):
            yield i
    finally:
        print("closed", name)
"""
FOOT = """
def run(f, *args):
    print("==", f.__name__)
    try:
        print("->", f(*args))
    except Exception:
        traceback.print_exc(file=sys.stdout)


for function, arguments in CALLS:
    run(function, *arguments)
CALLS[-1][0](*CALLS[-1][1])
"""


class Writer:
    """Writes one function; knows which names are bound, and what may stand where."""

    def __init__(self, rng: random.Random, version: tuple[int, int]) -> None:
        self.rng = rng
        self.version = version
        self.lines: list[str] = []
        self.counter = 0

    def new(self, prefix: str) -> str:
        """Make a name that nothing else has."""
        self.counter += 1
        return f"{prefix}{self.counter}"

    def put(self, indent: int, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * indent + text)

    def expression(self, names: list[str], depth: int = 0) -> str:
        """Make an expression over integers; it may fail."""
        rng = self.rng
        atoms = [str(rng.randint(-3, 9)), *names, *names]
        if depth > 2 or rng.random() < 0.3:
            return rng.choice(atoms)
        a, b = self.expression(names, depth + 1), self.expression(names, depth + 1)
        return rng.choice(
            [
                f"({a} + {b})",
                f"({a} * {b}) % 7",
                f"({a} // {b})",
                f"({a} // ({b} or 1))",
                f"({a} - {b})",
                f"({a} if {b} else {rng.choice(atoms)})",
                f"({a} or {b})",
                f"(not {a}) + {b}",
                f"sum([v + {a} for v in range({rng.randint(0, 4)}) if v != {b}])",
                f"(lambda q: q - {a})({b})",
                f"len([{a}, *range({rng.randint(0, 3)})])",
                f"({a} < {b} <= 5)",
                f"show({a})",
                f"(w := {a}) + w",
                f"[{a}, {b}][{rng.choice(['0', '1', '-1', '-2', '0', '1', '-1', '2'])}]",
                f"int(f'{{{a}}}')",
                f"max({{k: {a} for k in range(2)}}.values())",
            ]
        )

    def block(self, indent: int, names: list[str], depth: int, *, loop: bool, top: bool) -> None:
        """Write some statements; `names` grows by what they bind for sure."""
        for _ in range(self.rng.randint(1, 4 if top else 3)):
            if self.statement(indent, names, depth, loop=loop):
                return

    def statement(self, indent: int, names: list[str], depth: int, *, loop: bool) -> bool:
        """Write a statement; tell whether what follows could not be reached."""
        rng = self.rng
        simple = [self.assign, self.assign, self.show, self.augment, self.unpack]
        compound = [self.branch, self.for_loop, self.while_loop, self.attempt, self.manage]
        compound += [self.nested, self.klass, self.generator]
        if self.version >= (3, 10):
            compound.append(self.choose)
        roll = rng.random()
        if roll < 0.06:
            self.put(indent, f"if {self.expression(names)} == {rng.randint(0, 5)}:")
            self.leave(indent + 1, names, loop=loop)
        elif roll < 0.08:
            self.leave(indent, names, loop=loop)
            return True
        elif roll < 0.11 and len(names) > 2:
            self.put(indent, f"del {names[-1]}")
            if rng.random() < 0.7:
                names.pop()  # else it is used though it is gone
        elif roll < 0.55 or depth >= DEPTH:
            rng.choice(simple)(indent, names)
        else:
            rng.choice(compound)(indent, names, depth, loop)
        return False

    def leave(self, indent: int, names: list[str], *, loop: bool) -> None:
        """Write what ends the block that it stands in."""
        rng = self.rng
        ways = [
            f"return {self.expression(names)}",
            f"raise {rng.choice(ERRORS)}({rng.randint(0, 9)})",
        ]
        ways += ["raise Err('own') from ValueError(1)", "assert 0, 'asserted'"]
        if loop:
            ways += ["break", "continue", "break", "continue"]
        self.put(indent, rng.choice(ways))

    # --- simple statements

    def assign(self, indent: int, names: list[str]) -> None:
        """Bind a name, an old or a new one."""
        name = self.rng.choice([*names, self.new("v")])
        self.put(indent, f"{name} = {self.expression(names)}")
        if name not in names:
            names.append(name)

    def show(self, indent: int, names: list[str]) -> None:
        """Print what some names hold."""
        chosen = self.rng.sample(names, min(len(names), 3))
        self.put(indent, f"show({self.counter}, {', '.join(chosen)})")

    def augment(self, indent: int, names: list[str]) -> None:
        """Change a name in place."""
        # No product of two names: squared in nested loops, it would not end.
        value = self.expression(names)
        change = self.rng.choice([f"+= {value}", f"-= {value}", "*= 2", f"//= {value}", "%= 5"])
        self.put(indent, f"{self.rng.choice(names)} {change}")

    def unpack(self, indent: int, names: list[str]) -> None:
        """Bind several names at once."""
        a, b = self.new("v"), self.new("v")
        star = self.rng.choice(["", "*"])
        self.put(indent, f"{a}, {star}{b} = {self.expression(names)}, {self.expression(names)}")
        if star:
            self.put(indent, f"{b} = len({b})")
        names += [a, b]

    # --- compound statements

    def branch(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write if, elif, else."""
        self.put(indent, f"if {self.expression(names)}:")
        self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)
        if self.rng.random() < 0.4:
            self.put(indent, f"elif {self.expression(names)}:")
            self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)
        if self.rng.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)

    def for_loop(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write a for loop, over a generator that tells when it is closed, or a range."""
        name, n = self.new("i"), self.rng.randint(0, 4)
        source = self.rng.choice([f"range({n})", f"items({n}, {name!r})", f"list(range({n}))"])
        self.put(indent, f"for {name} in {source}:")
        self.block(indent + 1, [*names, name], depth + 1, loop=True, top=False)
        self.maybe_else(indent, names, depth, loop)

    def while_loop(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write a while loop that ends: its counter is no name that others may change."""
        count = self.new("_c")
        self.put(indent, f"{count} = 0")
        self.put(indent, f"while ({count} := {count} + 1) < {self.rng.randint(1, 4)}:")
        self.block(indent + 1, list(names), depth + 1, loop=True, top=False)
        self.maybe_else(indent, names, depth, loop)

    def maybe_else(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write the else of a loop, now and then."""
        if self.rng.random() < 0.35:
            self.put(indent, "else:")
            self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)

    def attempt(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write try, except, else, finally."""
        rng = self.rng
        self.put(indent, "try:")
        self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)
        handled = rng.random() < 0.8
        if handled:
            kinds = ", ".join(rng.sample(ERRORS, 3))
            error = self.new("e")
            self.put(indent, f"except ({kinds}, ZeroDivisionError) as {error}:")
            self.put(indent + 1, f"show(type({error}).__name__, {error})")
            self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)
            if rng.random() < 0.3:
                self.put(indent, "except Exception:")
                self.put(indent + 1, rng.choice(["raise", "show('any')", "return 'caught'"]))
            if rng.random() < 0.4:
                self.put(indent, "else:")
                self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)
        if not handled or rng.random() < 0.4:
            self.put(indent, "finally:")
            self.put(indent + 1, f"show('finally', {self.counter})")
            self.block(indent + 1, list(names), DEPTH, loop=False, top=False)

    def manage(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write with, one item or two."""
        rng = self.rng
        swallow = f"[{', '.join(rng.sample(ERRORS, rng.randint(0, 2)))}]"
        items = [f"Ctx({self.new('m')!r}, {swallow})"]
        if rng.random() < 0.4:
            items.append(f"contextlib.nullcontext({self.expression(names)}) as {self.new('n')}")
        self.put(indent, f"with {', '.join(items)}:")
        self.block(indent + 1, list(names), depth + 1, loop=loop, top=False)

    def choose(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write match."""
        rng = self.rng
        self.put(indent, f"match ({self.expression(names)}, {self.expression(names)}):")
        one, two = self.new("p"), self.new("p")
        cases = [f"(0 | 1, {one})", f"({one}, {two}) if {one} == {two}", f"(bool() as {one}, _)"]
        for case in rng.sample(cases, rng.randint(1, 3)):
            self.put(indent + 1, f"case {case}:")
            self.put(indent + 2, f"show({one})")
            self.block(indent + 2, list(names), depth + 2, loop=loop, top=False)
        if rng.random() < 0.5:
            self.put(indent + 1, "case _:")
            self.block(indent + 2, list(names), depth + 2, loop=loop, top=False)

    def nested(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write a function within, which reads or rebinds names of the one around."""
        rng = self.rng
        name, argument = self.new("f"), self.new("a")
        own = [n for n in names if n[0] in "va"]
        self.put(indent, f"def {name}({argument}, *rest, k={self.expression(names)}):")
        inner = [argument, "k"]
        if own and rng.random() < 0.7:
            shared = rng.choice(own)
            self.put(indent + 1, f"nonlocal {shared}")
            self.put(indent + 1, f"{shared} = {self.expression([shared, argument])}")
            inner.append(shared)
        elif names:
            free = rng.choice(names)
            self.put(indent + 1, f"show('free', {free})")
        self.block(indent + 1, inner, depth + 1, loop=False, top=False)
        self.put(indent + 1, f"return {self.expression(inner)}")
        result = self.new("v")
        self.put(indent, f"{result} = {name}({self.expression(names)})")
        names.append(result)

    def klass(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write a class within, with a private name, and super()."""
        name, result = self.new("C"), self.new("v")
        self.put(indent, f"class {name}(Ctx):")
        self.put(indent + 1, f"__x = {self.expression(names)}")
        self.put(indent + 1, "for __y in range(2):")
        self.put(indent + 2, "show('body', __y)")
        self.put(indent + 1, "def __init__(self, name):")
        self.put(indent + 2, "super().__init__(name, [KeyError])")
        self.put(indent + 2, "self.__z = self.__x")
        self.put(indent + 1, "def m(self, a):")
        self.block(indent + 2, ["a"], depth + 2, loop=False, top=False)
        self.put(indent + 2, "return self.__z, __class__.__name__")
        self.put(indent, f"{result} = len(str({name}('c').m({self.expression(names)})))")
        names.append(result)

    def generator(self, indent: int, names: list[str], depth: int, loop: bool) -> None:
        """Write a generator within, and use some of it."""
        rng = self.rng
        name, result = self.new("g"), self.new("v")
        self.put(indent, f"def {name}(a):")
        self.put(indent + 1, "try:")
        self.put(indent + 2, "got = yield a")
        self.put(indent + 2, "show('got', got)")
        self.block(indent + 2, ["a"], DEPTH, loop=False, top=False)
        self.put(indent + 2, f"yield from range({rng.randint(0, 3)})")
        self.put(indent + 1, "finally:")
        self.put(indent + 2, "show('generator ends')")
        use = rng.choice(
            [
                f"sum(x or 0 for x in {name}({self.expression(names)}))",
                f"next({name}({self.expression(names)}))",
                f"len(list({name}({self.expression(names)})))",
            ]
        )
        self.put(indent, f"{result} = {use}")
        names.append(result)


def function(rng: random.Random, name: str, version: tuple[int, int]) -> list[str]:
    """Write a function of that name with two arguments."""
    writer = Writer(rng, version)
    writer.put(0, f"def {name}(a, b=2):")
    names = ["a", "b"]
    writer.block(1, names, 0, loop=False, top=True)
    writer.block(1, names, 0, loop=False, top=True)
    bound = ", ".join(names[:4])
    writer.put(1, f"return {bound}")
    return [*writer.lines, "", ""]


def program(seed: int, count: int = 10, version: tuple[int, int] = (3, 9)) -> str:
    """Write a file of functions that compiles."""
    rng = random.Random(f"stepped {seed}")
    text = HEAD + "\n\n"
    names: list[str] = []
    while len(names) < count:
        name = f"case_{len(names)}"
        lines = "\n".join(function(rng, name, version))
        if _compiles(lines):
            text += lines + "\n"
            names.append(name)
    calls = [f"({name}, ({rng.randint(-2, 5)}, {rng.randint(-2, 5)}))" for name in names]
    return text + f"CALLS = [{', '.join(calls)}]\n" + FOOT


def _compiles(text: str) -> bool:
    """Tell whether it does here: rules such as "nonlocal after use" are easier tried than kept."""
    try:
        compile(text, "generated", "exec")
    except SyntaxError:
        return False
    return True


if __name__ == "__main__":
    chosen, number, minor = (int(word) for word in sys.argv[1:])
    print(program(chosen, number, (3, minor)))
