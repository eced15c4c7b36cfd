import bdb


class D(bdb.Bdb):
    def user_line(self, frame):
        if frame.f_code.co_name == "f":
            print("line", frame.f_lineno, frame.f_locals)
        self.set_step()

    def user_return(self, frame, value):
        if frame.f_code.co_name == "f":
            print("return", value)


def f(n):
    a = n * 2
    for i in range(2):
        a += i
    return a


d = D()
d.runcall(f, 3)
