def inner():
    try:
        x = yield "a"
        print("inner got", x)
        y = yield "b"
        print("inner got", y)
    except KeyError:
        print("inner caught")
        yield "c"
    finally:
        print("inner finally")
    return "ret"


def outer():
    r = yield from inner()
    print("outer", r)
    yield "last"


g = outer()
print(next(g), g.send(1), g.throw(KeyError), next(g))
g.close()
