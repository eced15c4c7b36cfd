"""Call what is looked at once, and code that is not as often as is asked for."""

import sys

import shapes_looked


def other(value):
    twice = value * 2
    return twice + 1


shapes_looked.loop(10)
total = 0
for number in range(int(sys.argv[1])):
    total += other(number)
