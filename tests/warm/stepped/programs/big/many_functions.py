from lib import *

print(sum(globals()[f"f{i}"](1) for i in range(200)))
# --- file: lib.py
for i in range(200):
    exec(f"def f{i}(x):\n    y = x + {i}\n    return y")
