# ends: ZeroDivisionError
def one(a):
    x = a + 1

    def two(b):
        y = b + x

        def three(c):
            z = c + y + x
            print(a, b, c, x, y, z)
            return z / (a - 1)

        r = three(y)
        print("three", r)
        return r

    r = two(x)
    print("two", r)
    return r


one(3)
one(1)
