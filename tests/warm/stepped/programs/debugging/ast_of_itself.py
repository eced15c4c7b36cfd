import ast

tree = ast.parse(open(__file__).read())
print([type(n).__name__ for n in tree.body])


def f(n):
    if n:
        return n + 1
    return 0


class Count(ast.NodeVisitor):
    n = 0

    def generic_visit(self, node):
        self.n += 1
        super().generic_visit(node)


c = Count()
c.visit(tree)
print(c.n, ast.unparse(tree.body[2]))
code = compile(tree, "again", "exec", dont_inherit=True) if False else None
print(ast.literal_eval("[1, {'a': (2, None)}]"))
