# ends: ValueError: after chdir
import os

os.mkdir("elsewhere")


def f():
    os.chdir("elsewhere")
    raise ValueError("after chdir")


f()
