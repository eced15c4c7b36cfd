def a():
    x = 1

    def b():
        def c():
            nonlocal x
            x += 1

            def d():
                nonlocal x
                x *= 3
                return x

            return d() + x

        return c() + x

    return b() + x, x


print(a())
