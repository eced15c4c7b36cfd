# until: 3.9
# ends: SyntaxError
match 1:
    case 1:
        pass
