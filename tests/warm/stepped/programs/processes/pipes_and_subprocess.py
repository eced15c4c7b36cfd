import subprocess
import sys


def run(code, *args, text=None):
    done = subprocess.run([sys.executable, "-c", code, *args], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


print(run("import sys; print(sys.argv[1:], sys.stdin.read())", "a", text="in"))
print(run("raise SystemExit(4)"))
print(run("def f():\n  1/0\nf()"))
