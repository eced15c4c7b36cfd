import inspect


def show(f):
    print(inspect.getsource(f))
    return f


@show
def f(a, b=1):
    # a comment
    if a:
        return b

    return a


@show
class K:
    def m(self):
        return 1


print(inspect.getsource(K.m), inspect.getsourcelines(f)[1], inspect.getsourcefile(f) == __file__)
print(inspect.getsource(lambda: 5))
print(inspect.getcomments(f), inspect.getdoc(K), inspect.getmodule(f).__name__)
