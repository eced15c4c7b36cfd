name, n, pi = "x", 42, 3.14159
print(f"{name!r:>5}|{n:05d}|{pi:.{2}f}|{n=}|{pi=:.2f}|{{}}|{name + 'y' = }")
print(f"{'nested ' + f'{n + 1}'}", f"{(lambda v: v * 2)(3)}", f"{[i for i in range(3)]}")
print(f"""multi
{n
 + 1}
line""" "plain" f'{n}')
print(rf"\d{n}", f"\N{BULLET}", F"{n:#x}")
print(f"{n!s:^{10}}", f"{ {'a': 1}['a'] }")
