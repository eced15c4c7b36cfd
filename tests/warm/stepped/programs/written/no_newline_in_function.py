# bytes: no-newline
def f(n):
    if n:
        print("if")
    # a comment at the end


f(1)
class A:
    def m(self): return f(1)
A().m()
