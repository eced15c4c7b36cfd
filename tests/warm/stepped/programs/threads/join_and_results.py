import threading

results = {}
lock = threading.Lock()


def work(n):
    total = 0
    for i in range(n * 100):
        total += i
    with lock:
        results[n] = total


ts = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in ts:
    t.start()
for t in ts:
    t.join()
print(sorted(results.items()))
