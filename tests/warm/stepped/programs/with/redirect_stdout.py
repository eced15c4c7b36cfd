import contextlib
import io

buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("hidden")
    for i in range(2):
        print(i)
print(repr(buffer.getvalue()))
