# ends: AssertionError: the sum is 6
xs = [1, 2, 3]
assert (
    sum(xs)
    == len(xs)
), (
    "the sum is "
    f"{sum(xs)}"
)
