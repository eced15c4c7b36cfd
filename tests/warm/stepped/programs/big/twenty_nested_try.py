with open("lib.py", "w") as f:
    f.write("def f():\n")
    for i in range(10):
        f.write("    " * (2 * i + 1) + f"for i{i} in (1,):\n")
        f.write("    " * (2 * i + 2) + "try:\n")
    f.write("    " * 21 + "print('deep')\n")
    for i in reversed(range(10)):
        f.write("    " * (2 * i + 2) + "finally:\n")
        f.write("    " * (2 * i + 3) + f"print({i})\n")
import lib

lib.f()
