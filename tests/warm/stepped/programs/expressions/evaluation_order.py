def e(n):
    print(n, end=" ")
    return n


d = {e(1): e(2), e(3): e(4)}
xs = [e(5), *[e(6)], e(7)]
(lambda *a, **k: None)(e(8), *[e(9)], k=e(10), **{"z": e(11)})
d[e(12)] = e(13)
xs[e(0)], xs[e(1)] = e(14), e(15)
xs[e(2)] += e(16)
e(17) + e(18) * e(19) - e(20)
print()
print(d, xs)
