# ends: UnboundLocalError
def f():
    e = "before"
    try:
        raise ValueError("v")
    except ValueError as e:
        print(repr(e))
    print(e)


f()
