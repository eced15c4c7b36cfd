import os
import sys

print("buffered first")
os.write(1, b"raw\n")
for i in range(2):
    print(i, end=" ")
    os.write(1, b"r")
sys.stdout.flush()
os.write(1, b"end\n")
