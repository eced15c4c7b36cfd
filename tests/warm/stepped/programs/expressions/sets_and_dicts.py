d = dict(a=1)
d |= {"b": 2}
print(d | {"a": 9}, d.setdefault("z", []), {1, 2} & {2, 3}, {1} ^ {2}, frozenset([1]) | {2})
print(d.pop("a"), list(d.items()), d.keys() & {"b"}, {**d})
print({True: 1, 1: 2, 1.0: 3}, {(): 1}[()])
