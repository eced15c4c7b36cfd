# ends: SyntaxError
x = """never
ends
