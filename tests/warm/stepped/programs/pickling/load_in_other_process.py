import pickle
import subprocess
import sys


class A:
    x = 1

    def __reduce__(self):
        return (A, ())


if len(sys.argv) > 1:
    print(type(pickle.load(open("data", "rb"))).x)
else:
    with open("data", "wb") as f:
        pickle.dump(A(), f)
    print(subprocess.run([sys.executable, __file__, "load"], capture_output=True, text=True).stdout)
