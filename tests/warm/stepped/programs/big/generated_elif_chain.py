with open("lib.py", "w") as f:
    f.write("def f(n):\n    if n == 0:\n        return 0\n")
    for i in range(1, 300):
        f.write(f"    elif n == {i}:\n        r = {i} * 2\n")
    f.write("    else:\n        r = None\n    return r\n")
import lib

print(lib.f(0), lib.f(150), lib.f(299), lib.f(300))
