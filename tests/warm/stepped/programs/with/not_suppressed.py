# ends: KeyError: 'gone'
class M:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        print("exit", exc[0].__name__)
        return None


def f():
    with M() as m, M():
        d = {}
        d["gone"]
    print("never")


f()
