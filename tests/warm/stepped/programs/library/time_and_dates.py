import datetime
import time

start = time.perf_counter()
d = datetime.date(2024, 2, 28) + datetime.timedelta(days=2)
print(d, d.strftime("%j"), time.perf_counter() >= start, time.strftime("%Y", time.gmtime(0)))
print(datetime.datetime.fromisoformat("2024-01-02T03:04:05") - datetime.datetime(2024, 1, 1))
