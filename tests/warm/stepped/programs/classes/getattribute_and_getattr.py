class A:
    x = 1

    def __getattribute__(self, name):
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        print("getattribute", name)
        return super().__getattribute__(name)

    def __getattr__(self, name):
        print("getattr", name)
        return f"<{name}>"

    def __setattr__(self, name, value):
        print("setattr", name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        print("delattr", name)
        super().__delattr__(name)


a = A()
print(a.x, a.y)
a.y = 2
print(a.y)
del a.y
print(a.y)
