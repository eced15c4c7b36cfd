# ends: SyntaxError
x = (1,
     2
print(x)
