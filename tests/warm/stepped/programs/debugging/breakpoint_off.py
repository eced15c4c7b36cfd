# env: PYTHONBREAKPOINT=0
def f():
    x = 1
    breakpoint()
    return x


print(f())
breakpoint()
