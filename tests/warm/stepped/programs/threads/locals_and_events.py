import queue
import threading

local = threading.local()
local.x = "main"
q = queue.Queue()
ready = threading.Event()


def work():
    q.put(hasattr(local, "x"))
    local.x = "thread"
    ready.wait()
    for i in range(3):
        q.put(i)
    q.put(None)


t = threading.Thread(target=work, daemon=True)
t.start()
ready.set()
while (item := q.get()) is not None:
    print(item)
t.join()
print(local.x, t.is_alive())
