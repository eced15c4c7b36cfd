# ends: TypeError: exceptions must derive from BaseException
try:
    raise ValueError
except ValueError as error:
    print(repr(error))
raise 3
