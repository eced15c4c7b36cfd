def gen(n):
    for i in range(n):
        yield i
    return "result"


def outer():
    r = yield from gen(2)
    print("got", r)
    r2 = yield from [10, 20]
    return r, r2


g = outer()
while True:
    try:
        print(next(g))
    except StopIteration as stop:
        print("value", stop.value)
        break
