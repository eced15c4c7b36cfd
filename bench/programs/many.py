"""Write so many bytes to stdout, so many at a time: `many.py 65536 1000000000`."""

import os
import sys

piece, total = int(sys.argv[1]), int(sys.argv[2])
data = b"x" * (piece - 1) + b"\n"
for _ in range(total // piece):
    left = data
    while left:
        left = left[os.write(1, left) :]
