# ignore: 0x[0-9a-f]+
# The file that looks is not stepped; the one it looks at is, and shows its plain code.
import show


def f(a):
    b = a + 1
    for _ in range(2):
        print(b)
    return [x for x in (a, b)]


class C:
    def m(self):
        try:
            return f(1)
        finally:
            print("done")


show.it(f)
print(f(1))
show.it(C.m)
print(C().m())
# --- file: show.py
import dis


def it(function):
    dis.dis(function)
    print(function.__code__.co_consts[:1], len(list(dis.get_instructions(function))))
