import sys


class Fake:
    answer = 42

    def __init__(self, old):
        self.old = old


print("before")
sys.modules[__name__] = Fake(sys.modules[__name__])
import __main__

print(__main__.answer, type(__main__).__name__)
print(Fake.answer)
