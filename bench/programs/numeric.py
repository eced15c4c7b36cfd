"""Import numpy and use it, in a few large and many small steps; prints the seconds it took."""

import time

clock, cpu = time.perf_counter(), time.process_time()
import numpy as np  # noqa: E402

large = np.linspace(0.0, 1.0, 2_000_000)
for _ in range(20):
    large = np.sqrt(large * large + 1.0)
small = np.ones(4)
for _ in range(100_000):
    small = small + 1.0
print(time.perf_counter() - clock, time.process_time() - cpu)
