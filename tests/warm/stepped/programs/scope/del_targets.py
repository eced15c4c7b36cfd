a = [0, 1, 2, 3, 4]
b = {"k": 1, "l": 2}


class C:
    pass


c = C()
c.x = c.y = 1
del a[0], a[1:3], b["k"], c.x
print(a, b, vars(c))
d, e = 1, 2
del (d, [e])
print("d" in globals(), "e" in globals())
del a[:]
print(a)
