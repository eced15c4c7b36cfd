table = {name: (lambda v, n=name: f"{n}:{v}") for name in ("a", "b")}
print([table[k](i) for i, k in enumerate(sorted(table))])
print((lambda *a, **k: (a, k))(*[i for i in range(2)], **{c: 1 for c in "xy"}))
print([f(2) for f in [lambda x: x + i for i in range(3)]])
print(max((len(w), w) for w in "a bb cc".split()))
