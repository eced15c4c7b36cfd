import sys
import threading


def f():
    print("thread")
    sys.exit(3)


t = threading.Thread(target=f)
t.start()
t.join()
print("main goes on")
