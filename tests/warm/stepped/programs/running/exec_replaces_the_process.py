# exit: 6
import os
import sys

if len(sys.argv) == 1:
    print("first", flush=True)
    os.execv(sys.executable, [sys.executable, __file__, "again"])
print("second", sys.argv[1:])
sys.exit(6)
