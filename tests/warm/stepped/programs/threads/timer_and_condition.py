import threading

cond = threading.Condition()
box = []


def late():
    with cond:
        box.append("late")
        cond.notify()


threading.Timer(0.01, late).start()
with cond:
    while not box:
        cond.wait(5)
print(box)
