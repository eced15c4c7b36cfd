# ends: AttributeError
import traceback


def report(f):
    try:
        f()
    except Exception:
        traceback.print_exc()


def assign():
    x = none.a


def augmented():
    x = 1
    x += none


def annotated():
    x: int = none[0]


def delete():
    del none.a


def subscript():
    none[0] = 1


def call():
    none()


def unpack():
    a, b = none


def loop():
    for i in none:
        pass


def condition():
    if none.x:
        pass


def wait():
    while none > 1:
        pass


def string():
    return f"{none.a}"


def imported():
    from os import nothing_like_it


none = None
for f in (assign, augmented, annotated, delete, subscript, call, unpack, loop, condition, wait, string, imported):
    report(f)
none.end
