# exit: 4
import atexit
import sys


def bye():
    print("bye", sys.exc_info()[0])


atexit.register(bye)


def main():
    for i in range(5):
        if i == 4:
            sys.exit(i)


main()
