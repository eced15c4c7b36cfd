import inspect
import textwrap


def f():
    """First line.

        Indented more.
    Back.
    """


print(repr(f.__doc__))
print(inspect.getdoc(f))
print(textwrap.dedent("""
    a
      b
"""))
