# ignore: 0x[0-9a-f]+
import faulthandler
import sys


def f():
    for _ in range(1):
        faulthandler.dump_traceback(file=sys.stderr)


def main():
    f()


main()
