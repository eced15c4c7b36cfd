# run: -c "import lib; lib.f(0)"
# ends: ZeroDivisionError
# --- file: lib.py
def f(x):
    y = 1
    return y / x
