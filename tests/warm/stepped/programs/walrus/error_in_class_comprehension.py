# ends: SyntaxError
class A:
    xs = [y := 1 for _ in range(2)]
