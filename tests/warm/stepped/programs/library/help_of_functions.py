# ignore: 0x[0-9a-f]+
import pydoc


def f(a, b=1, *, c: int = 2) -> str:
    """Do a thing."""
    return str(a)


class A:
    """A class."""

    attr = 1

    def m(self, x):
        """A method."""
        return x

    @property
    def p(self):
        """A property."""
        return 1


print(pydoc.render_doc(f, renderer=pydoc.plaintext))
print(pydoc.render_doc(A, renderer=pydoc.plaintext))
