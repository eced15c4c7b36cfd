# ends: AttributeError: 'A' object has no attribute 'p'
class A:
    @property
    def p(self):
        return self.missing

    def __getattr__(self, name):
        print("getattr", name)
        raise AttributeError(f"'A' object has no attribute {name!r}")


A().p
