with open("lib.py", "w") as f:
    f.write("def f():\n")
    for i in range(18):
        f.write("    " * (i + 1) + f"for i{i} in (1,):\n")
    f.write("    " * 19 + "print('deep')\n")
    f.write("    return 'done'\n")
import lib

print(lib.f())
