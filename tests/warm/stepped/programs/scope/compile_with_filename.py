# ends: ValueError
code = compile("def boom():\n    raise ValueError('in compiled')\n", "made-up.py", "exec")
exec(code)
print(boom.__code__.co_filename, code.co_names)
boom()
