import sys
import threading

sys.setrecursionlimit(50_000)
threading.stack_size(256 * 1024 * 1024)


def f(n):
    if n == 0:
        return 0
    m = f(n - 1)
    return m + 1


def main():
    print(f(20_000))


t = threading.Thread(target=main)
t.start()
t.join()
