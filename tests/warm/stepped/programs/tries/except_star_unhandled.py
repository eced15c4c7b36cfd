# needs: 3.11
# ends: TypeError: t
def f():
    try:
        raise ExceptionGroup("g", [ValueError("v"), TypeError("t"), ExceptionGroup("h", [OSError("o")])])
    except* ValueError:
        print("v")
    except* OSError:
        raise RuntimeError("while handling")


f()
