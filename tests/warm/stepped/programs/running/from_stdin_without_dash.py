# options: -q
# run: -u
# stdin: x = 1\nprint(x, __name__)\nfor i in range(2):\n    print(i)\n\nraise SystemExit(0)\n
