import a

print(a.x, a.b.y, a.use())
# --- file: a.py
print("a starts")
import b

x = 1


def use():
    return b.get()


print("a ends")
# --- file: b.py
print("b starts")
import a

print(hasattr(a, "x"))
y = 2


def get():
    return a.x + y
