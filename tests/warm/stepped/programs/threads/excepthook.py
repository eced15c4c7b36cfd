import threading


def hook(args):
    print("hook", args.exc_type.__name__, args.exc_value, args.thread.name)
    print(args.exc_traceback.tb_next.tb_lineno)


threading.excepthook = hook


def f():
    raise KeyError("t")


t = threading.Thread(target=f, name="T")
t.start()
t.join()
