# needs: 3.10
# What the library exports is what it was: names, modules, signatures.
import inspect
import sys
import threading
import traceback

for f in (traceback.print_exc, traceback.format_exc, open, print, __import__):
    print(f.__name__, f.__qualname__, f.__module__, type(f).__name__)
print(inspect.signature(traceback.print_exc), traceback.print_exc.__doc__)
print(sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__)
