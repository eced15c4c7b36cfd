# run: - a
# stdin: import sys\nprint(sys.argv, __name__)\ndef f():\n    return 1/0\nf()\n
# ends: ZeroDivisionError
