# ends: ZeroDivisionError
import os

body = "".join(f"    x{i % 7} = {i} + a\n    if x{i % 7} < 0:\n        print({i})\n" for i in range(700))
with open("lib.py", "w") as f:
    f.write(f"def f(a):\n{body}    return x0 / a\n")
import lib

print(lib.f(1) > 0)
lib.f(0)
