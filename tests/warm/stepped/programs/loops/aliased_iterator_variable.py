def f():
    xs = [1, 2, 3]
    for xs in xs:
        print(xs)
    it = iter("abc")
    for it in it:
        print(it)
    for self in (self for self in range(2)):
        print(self)
    return xs, it


print(f())
