# bytes: latin-1
# ends: SyntaxError
# A comment with ü in a file that claims to be UTF-8.
print("never")
