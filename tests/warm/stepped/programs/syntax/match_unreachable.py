# needs: 3.10
# ends: SyntaxError
match 1:
    case x:
        pass
    case 2:
        pass
