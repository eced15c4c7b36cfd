count = 0


def inc():
    global count, fresh
    count += 1
    fresh = count * 10
    return count


print(inc(), inc(), count, fresh)


def loop():
    global i
    for i in range(4):
        pass


loop()
print(i)


def imp():
    global os
    import os

    global helper

    def helper():
        return "h"

    class Local:
        global K
        K = 7


imp()
print(os.sep, helper(), K)
