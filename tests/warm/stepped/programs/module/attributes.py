# ignore: 0x[0-9a-f]+
"""Doc of the module."""
import sys

print(__name__, __doc__, __file__, __package__, __spec__, __builtins__)
print(type(__loader__).__name__, __loader__.name, __loader__.path)
print(sys.modules["__main__"].__dict__ is globals(), sys.modules[__name__].__file__)
print(getattr(sys.modules["__main__"], "__cached__", "none"))
