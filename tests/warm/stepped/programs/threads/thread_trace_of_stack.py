import threading
import traceback


def f():
    print([s.name for s in traceback.extract_stack()])


def g():
    for _ in (1,):
        f()


t = threading.Thread(target=g)
t.start()
t.join()
