import inspect
import sys


def main():
    # first comment
    print(inspect.getsource(main))
    print(inspect.getsourcelines(main)[1])
    print(len(inspect.getsource(sys.modules["__main__"]).splitlines()))
    print(inspect.getsource(inspect.currentframe()).splitlines()[0])


class A:
    """Doc."""

    def m(self):
        return inspect.getsource(type(self))


main()
print(A().m())
print([n for n, f in inspect.getmembers(A, inspect.isfunction)], inspect.getfile(A) == __file__)
