# ends: StopIteration
def gen():
    received = []
    try:
        while True:
            try:
                x = yield received
                received.append(x)
            except ValueError as error:
                received.append(str(error))
    finally:
        print("closing", received)


g = gen()
print(next(g), g.send(1), g.send(2), g.throw(ValueError("v")))
g.close()
next(g)
