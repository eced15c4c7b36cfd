import traceback


def a():
    try:
        b()
    except ZeroDivisionError as e:
        return traceback.format_exc(), [
            (f.name, f.lineno, f.line) for f in traceback.extract_tb(e.__traceback__)
        ]


def b():
    x = 0
    return (
        1
        / x
    )


text, frames = a()
print(text)
print(frames)
