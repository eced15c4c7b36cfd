# ends: RuntimeError: No active exception to reraise
try:
    1 / 0
except ZeroDivisionError:
    pass
raise
