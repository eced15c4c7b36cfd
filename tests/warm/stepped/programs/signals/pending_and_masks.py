import os
import signal

seen = []
signal.signal(signal.SIGUSR2, lambda *a: seen.append("usr2"))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR2)
print(seen, signal.SIGUSR2 in signal.sigpending())
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
print(seen)
