import copy


class N:
    def __init__(self, v, kids=()):
        self.v = v
        self.kids = list(kids)

    def __deepcopy__(self, memo):
        print("deepcopy", self.v)
        return N(self.v, copy.deepcopy(self.kids, memo))

    def __copy__(self):
        return N(self.v, self.kids)


a = N(1, [N(2)])
b, c = copy.copy(a), copy.deepcopy(a)
print(b.kids[0] is a.kids[0], c.kids[0] is a.kids[0])
f = lambda: 1
print(copy.deepcopy(f) is f, copy.copy({"f": f})["f"] is f)
