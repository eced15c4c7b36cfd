class Await:
    def __await__(self):
        x = yield "paused"
        return x


async def inner():
    r = await Await()
    print("inner", r)
    return r + 1


async def outer():
    return await inner() * 2


c = outer()
print(c.send(None), c.cr_frame.f_lineno, c.cr_await is not None)
try:
    c.send(10)
except StopIteration as stop:
    print(stop.value)
d = outer()
d.send(None)
d.close()
print(d.cr_frame)
