def make():
    def f():
        return 1

    return f


a, b = make(), make()
print(a.__code__ is b.__code__, a.__code__ == b.__code__, hash(a.__code__) == hash(b.__code__))
print((lambda: 1).__code__ == (lambda: 1).__code__)
print({f.__code__: 1 for f in (a, b)}[a.__code__])
