# run: script
# ends: TypeError
# --- file: script
import inspect


def f(x):
    return x + "1"


print(inspect.getsource(f))
f(1)
