print(2**100, -7 // 2, -7 % 3, divmod(-7, 2), round(2.5), 0.1 + 0.2, 1e308 * 10, float("nan"))
print(int("ff", 16), hex(-255), (1 << 64).bit_length(), 5 @ 1 if False else 10**-1, ~5)
print(1 if 1.0 == 1 else 2, True + True, "a" < "b", [1, 2] < [1, 3], (1,) + (2,))
