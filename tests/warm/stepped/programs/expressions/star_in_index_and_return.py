# needs: 3.11
class A:
    def __getitem__(self, k):
        return k


a = A()
print(a[*[1, 2], 3], a[1:2, *(5,)])


def f(*args: *tuple[int, ...]):
    return args


print(f(1, 2), f.__annotations__)
for x in *[1, 2], 3:
    print(x)
