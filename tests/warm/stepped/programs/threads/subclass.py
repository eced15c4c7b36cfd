import threading


class Worker(threading.Thread):
    def __init__(self, n):
        super().__init__(name=f"w{n}")
        self.n = n
        self.out = None

    def run(self):
        try:
            self.out = [self.n, threading.current_thread().name]
        finally:
            self.done = True


w = Worker(1)
w.start()
w.join()
print(w.out, w.done)
