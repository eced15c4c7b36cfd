# link: spaced/ä.py main.py
# run: spaced/ä.py
# ends: ValueError
def f():
    raise ValueError(__file__)


f()
