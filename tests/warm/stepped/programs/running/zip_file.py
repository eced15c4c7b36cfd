# zip: app.zip
# run: app.zip x
# ends: ZeroDivisionError
# --- file: __main__.py
import sys

import inner

print(__name__, sys.argv, inner.__file__, type(__loader__).__name__)
inner.f()
# --- file: inner.py
def f():
    return 1 / 0
