"""One line about any value, whatever it is: the one summariser of crashes, peeks and shapes.

`call` is where to begin reading: it looks at all values, and asks `holders` for containers
and records, `values` for numbers, dates and functions, `arrays` (with `tensors`, `frames`
and `samples`) for what has a shape, and `reprs` for objects that only their own `__repr__`
can tell, which is run in a forked child behind `isolation`. `objects` reads an object
without running its code.
"""

from .call import LENGTH, at_once, summarise, summarise_all

__all__ = ["LENGTH", "at_once", "summarise", "summarise_all"]
