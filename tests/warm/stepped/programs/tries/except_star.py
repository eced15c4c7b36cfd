# needs: 3.11
def f(group):
    try:
        raise group
    except* ValueError as e:
        print("values", [str(x) for x in e.exceptions])
    except* (KeyError, OSError) as e:
        print("others", e.exceptions)
    else:
        print("else")
    finally:
        print("finally")


f(ExceptionGroup("g", [ValueError("a"), KeyError("k"), ValueError("b")]))
f(ValueError("single"))
