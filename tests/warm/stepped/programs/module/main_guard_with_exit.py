# exit: 3
import sys


def main(argv):
    print(argv[1:])
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv))
