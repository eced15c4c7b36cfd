def read(lines):
    for line in lines:
        yield line.strip()


def parse(lines):
    for n, line in enumerate(lines, 1):
        if not line:
            continue
        k, _, v = line.partition("=")
        yield n, k, v


def pick(rows, key):
    return (v for n, k, v in rows if k == key)


print(list(pick(parse(read(["a=1 ", "", "b=2", "a=3"])), "a")))
