import sys

calls = []


def tracer(frame, event, arg):
    calls.append((event, frame.f_code.co_name, frame.f_lineno))


def f():
    return [g(i) for i in range(2)]


def g(n):
    return sorted([n], key=lambda x: -x)


class A:
    def m(self):
        yield f()


sys.settrace(tracer)
list(A().m())


class B:
    x = g(1)


sys.settrace(None)
print(*calls, sep="\n")
