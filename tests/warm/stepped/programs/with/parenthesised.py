# needs: 3.10
import contextlib

with (
    contextlib.suppress(ValueError) as s,
    contextlib.nullcontext(3) as n,
    open(__file__) as f,
):
    print(s, n, f.readline().strip())
    raise ValueError
print(f.closed)
