# ends: RuntimeError: no entry
class M:
    def __init__(self, fail=False):
        self.fail = fail

    def __enter__(self):
        if self.fail:
            raise RuntimeError("no entry")
        return 1

    def __exit__(self, *exc):
        print("exit", exc[0])


with M() as a, M(True) as b:
    print("never")
