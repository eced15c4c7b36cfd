# exit: -2
# ends: KeyboardInterrupt
import os
import signal
import time


def f():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    finally:
        print("finally")


f()
