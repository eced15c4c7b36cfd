# ends: child failed
import subprocess
import sys

if len(sys.argv) > 1:
    print("child", sys.argv[1:])
    sys.exit(int(sys.argv[1]))
for code in (0, 3):
    done = subprocess.run([sys.executable, __file__, str(code)], capture_output=True, text=True)
    print(done.returncode, done.stdout, done.stderr)
if code:
    sys.exit("child failed")
