import functools


@functools.total_ordering
class V:
    def __init__(self, s):
        self.p = tuple(map(int, s.split(".")))

    def __eq__(self, o):
        return self.p == o.p

    def __lt__(self, o):
        return self.p < o.p


print(V("1.2") >= V("1.1"), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
print(max(map(V, ["1.9", "1.10"])).p)
