# ends: ValueError: in key
import re


def repl(m):
    return m[0].upper()


print(re.sub(r"[a-c]", repl, "abcdef"))
print(sorted("bca", key=lambda c: ord(c)), list(filter(lambda x: x % 2, range(5))))


class K:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        if self.v == 3:
            raise ValueError("in key")
        return self.v < other.v


print([k.v for k in sorted([K(2), K(1)])])
sorted([K(2), K(3)])
