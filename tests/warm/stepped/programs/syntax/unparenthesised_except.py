# until: 3.13
# ends: SyntaxError
try:
    pass
except ValueError, KeyError:
    pass
