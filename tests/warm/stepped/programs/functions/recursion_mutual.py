def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    result = even(n - 1)
    return result


print([even(i) for i in range(8)])
print(odd(101))
