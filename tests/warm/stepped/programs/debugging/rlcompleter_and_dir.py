import rlcompleter


class A:
    alpha = 1
    beta = 2


c = rlcompleter.Completer(globals())
print(c.complete("A.al", 0), c.complete("prin", 0))
print([n for n in dir(A) if not n.startswith("_")])
