"""Ten million steps of plain Python in main()."""

import sys


def main():
    total = 0
    for number in range(int(sys.argv[1])):
        if number & 1:
            total += number
        else:
            total -= number & 3
    print(total)


main()
