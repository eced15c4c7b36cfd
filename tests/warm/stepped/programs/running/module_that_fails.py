# run: -m mod
# ends: ZeroDivisionError
# --- file: mod.py
def f():
    return 1 / 0


if __name__ == "__main__":
    f()
