import warnings


def f():
    warnings.warn("one", UserWarning)
    return [warnings.warn("two") for _ in range(1)]


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f()
    f()
print([(str(w.message), w.lineno, w.filename == __file__, w.category.__name__) for w in caught])
