"""Write to all of one's memory, over and over: `warm_writes.py 300 20`, megabytes and times."""

import sys


def main():
    state = bytearray(int(sys.argv[1]) * 1_000_000)
    pages = range(0, len(state), 4096)
    for turn in range(int(sys.argv[2])):
        for page in pages:
            state[page] = turn & 255
    print(len(state))


main()
