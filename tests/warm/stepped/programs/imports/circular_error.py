# ends: ImportError: cannot import name 'x' from partially initialized module 'a'
import a
# --- file: a.py
from b import y

x = 1
# --- file: b.py
def f():
    return 1


from a import x

y = x
