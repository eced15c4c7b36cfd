# ends: TimeoutError: alarm
import signal


def handler(number, frame):
    raise TimeoutError("alarm")


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)


def wait():
    signal.pause()
    return "never"


try:
    wait()
finally:
    print("finally")
