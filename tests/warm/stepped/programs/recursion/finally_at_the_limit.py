done = []


def f(n):
    try:
        f(n + 1)
    finally:
        done.append(n)


try:
    f(0)
except RecursionError as error:
    print(error)
print(len(done), done[:3], done[-1])
