import sys
import types

fake = types.ModuleType("fake")
fake.value = 3
sys.modules["fake"] = fake
from fake import value

print(value)
sys.modules["blocked"] = None
try:
    import blocked
except ImportError as error:
    print(error)
import lib

del sys.modules["lib"]
import lib as again

print(lib is again, lib.marker is again.marker)
# --- file: lib.py
print("loading")
marker = object()
