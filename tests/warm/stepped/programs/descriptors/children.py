import os

try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError as error:
    print(error)
print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid())
