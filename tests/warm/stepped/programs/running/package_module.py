# run: -m pkg.mod
# ends: LookupError: here
# --- file: pkg/__init__.py
print("package", __name__)
# --- file: pkg/mod.py
import traceback

from .other import call

print(__name__, __package__)


def fail():
    traceback.print_stack()
    raise LookupError("here")


call(fail)
# --- file: pkg/other.py
def call(f):
    print("calling from", __name__)
    return f()
