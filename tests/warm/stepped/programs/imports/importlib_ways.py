import importlib
import importlib.util

m = importlib.import_module("pkg.mod")
print(m.x, importlib.import_module(".mod", "pkg") is m)
spec = importlib.util.spec_from_file_location("loose", "pkg/loose.py")
loose = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loose)
print(loose.f(), loose.__name__, importlib.util.find_spec("nothing_at_all"))
print(importlib.util.find_spec("pkg.mod").origin.rpartition("/")[2], m.__spec__.has_location)
# --- file: pkg/__init__.py
# --- file: pkg/mod.py
x = 1
# --- file: pkg/loose.py
def f():
    return __file__.rpartition("/")[2], __spec__.name
