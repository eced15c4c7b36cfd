# ends: KeyError: 'second'
def f():
    try:
        raise ValueError("first")
    finally:
        print("cleaning")
        raise KeyError("second")


f()
