import gc


class A:
    pass


def f():
    a = A()
    box = [a]
    refs = [r for r in gc.get_referrers(a) if isinstance(r, list)]
    print(len(refs), refs[0] is box)
    return len([o for o in gc.get_objects() if isinstance(o, A)])


print(f())
print(len([o for o in gc.get_objects() if isinstance(o, A)]))
