class One:
    _it = None

    def __new__(cls, *args):
        if cls._it is None:
            print("new", args)
            cls._it = super().__new__(cls)
        return cls._it

    def __init__(self, *args):
        print("init", args)
        self.args = args


print(One(1) is One(2), One(3).args)


class Even(int):
    def __new__(cls, n):
        return super().__new__(cls, n - n % 2)


print(Even(5), Even(4) + 1)
