import pickle


class A:
    def __init__(self):
        self.keep, self.drop = 1, open(__file__)

    def __getstate__(self):
        print("getstate")
        return {"keep": self.keep}

    def __setstate__(self, state):
        print("setstate", state)
        self.__dict__.update(state)


a = A()
b = pickle.loads(pickle.dumps(a))
a.drop.close()
print(b.keep, hasattr(b, "drop"))
