def gen(n):
    try:
        yield n
        yield n + 1
    finally:
        print("closed", n)


def f():
    for a in gen(1):
        for b in gen(10):
            for c in gen(100):
                print(a, b, c)
                return "done"


print(f())
for a in gen(5):
    for b in gen(50):
        break
    print("inner out")
    break
print("end")
