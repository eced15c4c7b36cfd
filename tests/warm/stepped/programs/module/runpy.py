# ends: ZeroDivisionError
import runpy

ns = runpy.run_path("other.py", {"given": 5}, "named")
print(sorted(k for k in ns if not k.startswith("__")), ns["f"](1))
ns = runpy.run_module("mod", run_name="__main__")
print(ns["value"])
runpy.run_path("bad.py")
# --- file: other.py
print(__name__, given)


def f(x):
    return x + 1
# --- file: mod.py
value = __name__
if __name__ == "__main__":
    print("mod as main")
# --- file: bad.py
def boom():
    return 1 / 0


boom()
