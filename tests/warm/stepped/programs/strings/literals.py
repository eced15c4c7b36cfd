print("a" 'b' """c""", b"\x00\xff", r"\n", "\u00e9\x41\101", b'it' b's')
print('''multi
line \
continued''')
print("tab\there", 'single "double"', "\\")
print(1_000, 0x_ff, 0b11, 0o17, 1e3, 1j, .5, 5., 1_0.0_1)
print(len("ü"), "ﬁ", "日本" * 2, ascii("ü日"))
