# ends: LookupError: deep
def a():
    yield 1
    raise LookupError("deep")


def b():
    yield from a()


def c():
    for x in b():
        yield x


def main():
    for x in c():
        print(x)


main()
