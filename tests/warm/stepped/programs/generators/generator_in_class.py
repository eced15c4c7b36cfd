class Tree:
    def __init__(self, v, *kids):
        self.v = v
        self.kids = kids

    def __iter__(self):
        yield self.v
        for kid in self.kids:
            yield from kid

    def depth(self):
        return 1 + max((k.depth() for k in self.kids), default=0)


t = Tree(1, Tree(2, Tree(3)), Tree(4))
print(list(t), t.depth(), sum(t), 3 in t)
