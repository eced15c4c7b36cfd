import traceback

a = ValueError("a")
b = KeyError("b")
a.__context__ = b
b.__context__ = a
try:
    raise a
except ValueError:
    traceback.print_exc()
c = OSError("c")
c.__cause__ = a
c.__suppress_context__ = False
try:
    raise c
except OSError:
    traceback.print_exc()
