class L(list):
    def __iadd__(self, other):
        print("iadd", other)
        self.extend(other)
        return self


x = y = L([1])
x += [2]
print(x is y, x)
t = ([1],)
try:
    t[0] += [2]
except TypeError as error:
    print(error, t)
n = 7
n -= 2; n *= 3; n //= 2; n **= 2; n %= 10; n <<= 2; n >>= 1; n |= 8; n &= 12; n ^= 5
print(n)
f = 1.0
f /= 4
print(f)
