def f():
    def g():
        return 1

    class A:
        def m(self):
            pass

    return [lambda: 2, g, A, [x for x in "ab"], (y for y in "c")]


def walk(code, depth=0):
    print(" " * depth, code.co_name, code.co_firstlineno, code.co_flags)
    for c in code.co_consts:
        if hasattr(c, "co_code"):
            walk(c, depth + 1)


walk(f.__code__)
