# bytes: form-feed
# ends: ZeroDivisionError
x = 1
<FF>
def f():
    y = 2
<FF>
    return y / 0


f()
