import linecache


def f():
    return linecache.getline(__file__, 5), linecache.getline(__file__, 1)


print(f())
print(open(__file__).read().count("\n"))
