# ends: PicklingError
import pickle
from pickle import PicklingError


def f(x):
    return x + 1


class A:
    def __init__(self, n):
        self.n = n

    def m(self):
        return self.n

    class Inner:
        pass


print(pickle.loads(pickle.dumps(f)) is f, pickle.loads(pickle.dumps(A(3))).m())
print(pickle.loads(pickle.dumps(A.Inner)) is A.Inner, pickle.loads(pickle.dumps(A(4).m))())
print(pickle.dumps(f, 0))
try:
    pickle.dumps(lambda: 0)
except (PicklingError, AttributeError) as error:
    raise PicklingError("no lambdas") from None
