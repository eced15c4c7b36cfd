# bytes: no-newline
# ends: ZeroDivisionError
print("last line has no newline")
1 / 0
