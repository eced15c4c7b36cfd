import contextlib


class T:
    pass


t = T()
d = {}
with contextlib.nullcontext((1, [2, 3])) as (a, [b, c]):
    print(a, b, c)
with contextlib.nullcontext(1) as t.x, contextlib.nullcontext(2) as d["k"]:
    print(t.x, d)
with contextlib.nullcontext([1, 2, 3]) as [*xs]:
    print(xs)
