import os
import signal


def handler(number, frame):
    print("signal", number == signal.SIGUSR1, frame.f_code.co_name, frame.f_lineno)


signal.signal(signal.SIGUSR1, handler)


def f():
    os.kill(os.getpid(), signal.SIGUSR1)
    return "sent"


print(f())
print(signal.getsignal(signal.SIGUSR1) is handler, signal.getsignal(signal.SIGTERM))
