# ends: RuntimeError: Set changed size during iteration
s = {1}
for x in s:
    s.add(x + 1)
