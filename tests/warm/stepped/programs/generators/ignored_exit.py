# ignore: 0x[0-9a-f]+
# ends: RuntimeError: generator ignored GeneratorExit
def gen():
    while True:
        try:
            yield 1
        except GeneratorExit:
            print("ignored")


g = gen()
next(g)
g.close()
