import weakref


class K:
    def __init__(self, n):
        self.n = n


d = weakref.WeakValueDictionary()


def fill():
    keep = []
    for i in range(4):
        k = K(i)
        d[i] = k
        if i % 2:
            keep.append(k)
        print(sorted(d))
    del k
    print(sorted(d))
    return keep


kept = fill()
print(sorted(d))
kept.clear()
print(sorted(d))
