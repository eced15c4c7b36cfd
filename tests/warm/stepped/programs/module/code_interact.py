# stdin: x\nprint(x + 1)\ny = 5\nf(2)\n1/0\n
import code

x = 41


def f(n):
    return n * 2


def main():
    local = {"x": x, "f": f}
    code.interact("banner", local=local, exitmsg="bye")
    print(local["y"])


main()
