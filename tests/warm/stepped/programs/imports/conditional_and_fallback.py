try:
    import not_there as fast
except ImportError:
    import lib as fast
print(fast.name)
if fast:
    from lib import name as n
else:
    n = None
for module in ("json", "lib"):
    m = __import__(module)
    print(m.__name__)
# --- file: lib.py
name = "slow"
