import signal

for s in sorted(signal.Signals, key=int):
    if s < 32:
        print(s.name, signal.getsignal(s))
