def f():
    a = 1
    before = locals()
    a = 2
    b = 3
    print(before.get("a"), "b" in before)
    locals()["a"] = 100
    print(a)
    now = locals()
    return sorted(now)


print(f())
