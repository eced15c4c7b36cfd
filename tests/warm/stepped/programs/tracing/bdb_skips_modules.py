import bdb
import sys

import lib


class D(bdb.Bdb):
    def user_line(self, frame):
        print("line", frame.f_globals["__name__"], frame.f_lineno)
        self.set_step()


def f():
    a = lib.g()
    return a


D(skip=["lib"]).runcall(f)
# --- file: lib.py
def g():
    x = 1
    return x
