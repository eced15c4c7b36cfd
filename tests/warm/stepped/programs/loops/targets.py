d = {}


class O:
    pass


o = O()
for d["k"] in range(2):
    print(d)
for o.x, *o.rest in [(1, 2, 3), (4,)]:
    print(o.x, o.rest)
for i, (a, [b, *c]) in enumerate([(1, [2, 3]), (4, [5])]):
    print(i, a, b, c)
xs = [0, 0]
for xs[0] in (5, 6):
    pass
for [p, q] in [(1, 2)]:
    print(p, q)
for x in 1, 2, *[3]:
    print(x)
print(xs)
