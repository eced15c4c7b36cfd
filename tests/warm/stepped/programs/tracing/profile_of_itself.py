# ignore: [ \t]+\d+\.\d{3}
# ignore: in \d+\.\d+ seconds
# ignore: \d+\.\d+
import cProfile
import pstats
import sys


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def main():
    total = 0
    for i in range(8):
        total += fib(i)
    return total


profile = cProfile.Profile()
profile.enable()
main()
profile.disable()
pstats.Stats(profile, stream=sys.stdout).strip_dirs().sort_stats("name").print_stats()
