import traceback


def f():
    traceback.print_stack()
    print(traceback.format_stack()[-1])
    print([(s.name, s.lineno) for s in traceback.extract_stack()])


def g():
    f()


class A:
    def m(self):
        return [g() for _ in range(1)]


A().m()
