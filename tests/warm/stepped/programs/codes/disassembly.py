# ignore: 0x[0-9a-f]+
import dis


def f(a):
    b = a + 1
    if b:
        print(b)
    return b


dis.dis(f)
print(dis.code_info(f))
