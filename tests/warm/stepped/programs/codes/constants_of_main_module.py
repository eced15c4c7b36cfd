import sys

frame = sys._getframe()
print(frame.f_code.co_name, frame.f_code.co_argcount, frame.f_code.co_flags & 0xFF)
print(frame.f_code.co_names)
print(frame.f_code.co_filename == __file__, frame.f_code.co_firstlineno)
