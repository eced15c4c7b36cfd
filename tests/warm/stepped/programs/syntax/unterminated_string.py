# ends: SyntaxError
print("ok")
x = "no end
