# ends: ZeroDivisionError
def f():
    try:
        x = 1
    except ZeroDivisionError:
        print("not caught here")
    else:
        return x / 0
    finally:
        print("finally")


f()
