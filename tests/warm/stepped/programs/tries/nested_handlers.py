# ends: TypeError: from handler
def f(n):
    try:
        try:
            if n:
                raise ValueError("a")
        except KeyError:
            print("no")
        except ValueError:
            print("inner")
            if n > 1:
                raise
            raise TypeError("from handler")
        else:
            print("else")
        finally:
            print("inner finally")
    except ValueError as e:
        print("outer", e)
    finally:
        print("outer finally")


f(0)
f(2)
f(1)
