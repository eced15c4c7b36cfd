# ends: SyntaxError: 'return' outside function
print("never")
return 1
