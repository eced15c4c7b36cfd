import re


def parse(line):
    if m := re.match(r"(\d+)", line):
        return int(m[1])
    elif (m := re.match(r"([a-z]+)", line)) and (name := m[1]) != "x":
        return name
    return m


print([parse(s) for s in ("12", "ab", "x", "?")])
xs = iter([3, 2, 1, 0, 5])
while x := next(xs):
    print(x)
assert (v := 3), "no"
print(v)
