# options: -u
import os
import sys

sys.stdout.write("a")
os.write(1, b"b")
sys.stdout.write("c\n")
sys.stderr.write("e\n")
os.write(2, b"f\n")
