class S:
    def __getitem__(self, k):
        return k

    def __setitem__(self, k, v):
        print("set", k, v)

    def __delitem__(self, k):
        print("del", k)


s = S()
print(s[1], s[1:2], s[::2], s[1, 2:3, ...], s[:, None], s[()], s[-1:])
s[1:2] = 3
s[...] = 4
del s[::3]
xs = list(range(10))
xs[2:5] = ["a"]
xs[::3] = "wxyz"[: len(xs[::3])]
print(xs, xs[::-1][:3])
