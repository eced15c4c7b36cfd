import os
import threading

print(len(os.listdir("/proc/self/task")), threading.active_count())


def f():
    return len(os.listdir("/proc/self/task"))


print(f())
