# options: -I
import sys

print(sys.flags.isolated, __name__, sys.path[0].endswith("lib-dynload") or sys.path[0].endswith(".zip"))
