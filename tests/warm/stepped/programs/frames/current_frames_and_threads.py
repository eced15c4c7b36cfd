import sys
import threading

print(len(sys._current_frames()), threading.current_thread().name)
frame = sys._current_frames()[threading.get_ident()]
print(frame.f_code.co_name, frame.f_lineno)
