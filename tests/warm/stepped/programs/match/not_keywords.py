match = 1
case = 2
_ = 3
print(match, case, _)
match, case = case, match
print(match * case)


def f(match, case=1):
    print(match [0], case)


f("ab")
