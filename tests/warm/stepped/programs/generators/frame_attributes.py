def gen():
    a = 1
    yield a
    b = 2
    for i in range(2):
        yield i + b


g = gen()
print(g.gi_frame.f_lineno, g.gi_running, g.gi_yieldfrom, g.gi_frame.f_locals)
next(g)
print(g.gi_frame.f_lineno, g.gi_frame.f_locals, g.gi_code is gen.__code__)
next(g)
print(g.gi_frame.f_lineno, sorted(g.gi_frame.f_locals))
list(g)
print(g.gi_frame, g.__name__, g.__qualname__)
