import importlib.util
import sys

spec = importlib.util.find_spec("lib")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = importlib.util.module_from_spec(spec)
sys.modules["lib"] = module
spec.loader.exec_module(module)
print("not yet")
print(module.x)
# --- file: lib.py
print("now")
x = 1
