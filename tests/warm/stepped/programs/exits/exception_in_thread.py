import threading


def f(n):
    x = n - 1
    return 1 / x


t = threading.Thread(target=f, args=(1,), name="worker")
t.start()
t.join()
print("main")
