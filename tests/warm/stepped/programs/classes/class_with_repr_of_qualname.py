# ignore: 0x[0-9a-f]+
def outer():
    class Local:
        class Deep:
            def m(self):
                def inner():
                    pass

                return inner

    return Local


L = outer()
print(L, L.Deep, L.Deep.m, L.Deep().m())
print(L.Deep.m.__qualname__, L.Deep().m().__qualname__, (lambda: 0).__qualname__)
print(L.__module__, L.__qualname__)
