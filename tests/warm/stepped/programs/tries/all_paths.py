def f(n):
    print("--", n)
    try:
        print("try")
        if n == 1:
            raise ValueError("one")
        if n == 2:
            raise KeyError("two")
        if n == 3:
            return "returned"
        if n == 4:
            raise OSError("four")
    except ValueError as e:
        print("value", e)
    except (KeyError, IndexError) as e:
        print("lookup", e)
        return "from except"
    except Exception:
        print("other")
    else:
        print("else")
    finally:
        print("finally")
    return "end"


for n in range(5):
    print(f(n))
