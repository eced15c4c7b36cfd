# ends: ZeroDivisionError
a = 1; b = 0; print(a); print(b); c = a / b; print(c)
