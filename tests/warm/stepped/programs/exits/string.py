# exit: 1
# ends: something is wrong
import sys


def f():
    try:
        sys.exit("something is wrong")
    finally:
        print("finally")


f()
