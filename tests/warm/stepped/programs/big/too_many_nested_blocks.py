# until: 3.12
# ends: SyntaxError: too many statically nested blocks
with open("lib.py", "w") as f:
    f.write("def f():\n")
    for i in range(25):
        f.write("    " * (i + 1) + f"for i{i} in (1,):\n")
    f.write("    " * 26 + "print('deep')\n")
import lib
