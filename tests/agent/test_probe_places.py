"""Where a probe stands in a file: every kind of line."""

import ast
import textwrap

import pytest

from zeroin.agent.probes import places

SOURCE = textwrap.dedent(
    '''\
    """A module."""
    from __future__ import annotations
    import os

    # a comment
    @decorated(
        1,
    )
    def f(
        a,
        b=2,
    ):
        """Text."""
        if (a and
                b):
            return 1

        elif b: return 2
        else:
            x = [
                n * 2
                for n in a
                if n
            ]
        try:
            g(
                # inside
                x,
            )
        except ValueError as e:
            print(e)
        finally:
            # why
            done = 1
        while a:
            a -= 1; b += 1
        for i in b:
            pass
        else:
            b = 3
        return {i: lambda q: q for i in b}

    class C:
        size = 3

        async def m(self):
            async with self as s:
                await s
    square = lambda v: v * v
    '''
)


def spot(line, *names):
    tree = ast.parse(SOURCE)
    found = places.at_line(tree, SOURCE.splitlines(), line, names)
    if found is None:
        return None
    kind = type(found.scope).__name__ if found.scope is not None else type(found.statement).__name__
    return places.first_line(found.statement), kind, found.qualname


def line_of(text):
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if line.strip() == text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import os", ("import os", "Import", "")),
        ("@decorated(", ("@decorated(", "FunctionDef", "")),
        ("1,", ("@decorated(", "FunctionDef", "")),
        ("a,", ("@decorated(", "FunctionDef", "")),
        ("):", ("@decorated(", "FunctionDef", "")),
        ("if (a and", ("if (a and", "If", "f")),
        ("b):", ("if (a and", "If", "f")),
        ("return 1", ("return 1", "Return", "f")),
        ("elif b: return 2", ("elif b: return 2", "If", "f")),
        ("else:", ("x = [", "Assign", "f")),
        ("x = [", ("x = [", "Assign", "f")),
        ("n * 2", ("x = [", "ListComp", "f")),
        ("if n", ("x = [", "ListComp", "f")),
        ("# inside", ("g(", "Expr", "f")),
        ("x,", ("g(", "Expr", "f")),
        ("except ValueError as e:", ("print(e)", "Expr", "f")),
        ("finally:", ("done = 1", "Assign", "f")),
        ("while a:", ("while a:", "While", "f")),
        ("a -= 1; b += 1", ("a -= 1; b += 1", "AugAssign", "f")),
        ("for i in b:", ("for i in b:", "For", "f")),
        ("size = 3", ("size = 3", "Assign", "C")),
        ("async with self as s:", ("async with self as s:", "AsyncWith", "C.m")),
        ("await s", ("await s", "Expr", "C.m")),
    ],
)
def test_each_line_belongs_to_its_statement(text, expected):
    """The statement that a line is in, and the function that the statement is in."""
    first, kind, name = expected
    assert spot(line_of(text)) == (line_of(first), kind, name)


@pytest.mark.parametrize("text", ['"""A module."""', "# a comment", '"""Text."""', "# why", ""])
def test_some_lines_hold_no_code(text):
    """Comments, texts and empty lines; also those inside of a compound statement."""
    assert spot(line_of(text)) is None


def test_names_of_a_comprehension_lead_into_it():
    """On one line, the variables that the probe asks for decide what is meant."""
    line = line_of("return {i: lambda q: q for i in b}")
    assert spot(line, "b")[1] == "Return"
    assert spot(line, "q")[1] == "Lambda"
    assert spot(line_of("square = lambda v: v * v"), "v")[1] == "Lambda"


def test_nearest_lines():
    """Two before and two after, of those that hold code."""
    tree = ast.parse(SOURCE)
    found = places.lines_near(tree, line_of("# why"))
    assert found == [line_of("g("), line_of("print(e)"), line_of("done = 1"), line_of("while a:")]
    assert places.lines_near(tree, 5000) == [
        line_of("await s"),
        line_of("square = lambda v: v * v"),
    ]


def test_functions_by_name():
    """Methods with their class, and a lambda by its variable."""
    assert set(places.functions(ast.parse(SOURCE))) == {"f", "C.m", "square"}


@pytest.mark.parametrize("line", range(1, SOURCE.count("\n") + 2))
def test_any_line_can_be_asked_for(line):
    """None fails, whatever it holds."""
    spot(line)
