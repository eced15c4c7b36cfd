import sys

sys.path.insert(0, "plugins")
import plug

print(plug.run(), plug.__file__)
sys.path.remove("plugins")
import importlib.util

print(importlib.util.find_spec("plug2").name)
# --- file: plugins/plug.py
def run():
    import plug2

    return plug2.x
# --- file: plugins/plug2.py
x = "two"
