def f(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            total += i
        elif i % 5 == 0:
            total -= 1
        else:
            total ^= i
    return total


print(f(200_000))
n = 0
while n < 100_000:
    n += 1
print(n)
