import signal


class Done(Exception):
    pass


def handler(number, frame):
    raise Done


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
n = 0
try:
    while True:
        n += 1
except Done:
    print("interrupted", n > 0)


def spin():
    i = 0
    while True:
        i += 1
        for j in range(10):
            i += j


signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    spin()
except Done as done:
    print([t.tb_frame.f_code.co_name for t in (done.__traceback__, done.__traceback__.tb_next)])
