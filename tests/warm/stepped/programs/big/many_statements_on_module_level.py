# ends: IndexError
with open("lib.py", "w") as f:
    for i in range(1500):
        f.write(f"x{i % 10} = {i}\n")
    f.write("[][x0]\n")
import lib
