# ends: mine ValueError boom
import sys


def hook(kind, value, tb):
    print("mine", kind.__name__, value, tb.tb_lineno, file=sys.stderr)
    names = []
    while tb:
        names.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    print(names, file=sys.stderr)


sys.excepthook = hook


def f():
    raise ValueError("boom")


f()
