# ends: ZeroDivisionError
def f():
    return 1 / 0


with open(__file__) as h:
    text = h.read()
with open(__file__, "w") as h:
    h.write("# a line above\n" + text)
f()
