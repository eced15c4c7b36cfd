import inspect


def f():
    for info in inspect.stack():
        print(info.function, info.lineno, info.code_context, info.index, info.filename == __file__)


def main():
    if True:
        f()


main()
