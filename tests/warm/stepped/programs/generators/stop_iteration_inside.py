# ends: RuntimeError: generator raised StopIteration
def f():
    yield 1
    yield next(iter([]))


for x in f():
    print(x)
