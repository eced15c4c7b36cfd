import os

pid = os.fork()
if pid == 0:

    def f():
        raise ValueError("in child")

    f()
_, status = os.waitpid(pid, 0)
print("parent", os.WEXITSTATUS(status))
