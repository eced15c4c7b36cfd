import os
import sys

print("before", flush=True)
pid = os.fork()
if pid == 0:
    try:
        print("child", flush=True)
        sys.exit(5)
    finally:
        print("child finally", flush=True)
_, status = os.waitpid(pid, 0)
print("parent", os.WEXITSTATUS(status))
