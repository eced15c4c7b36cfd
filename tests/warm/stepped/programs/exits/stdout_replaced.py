import io
import sys

old = sys.stdout
sys.stdout = io.StringIO()
print("kept")
text = sys.stdout.getvalue()
sys.stdout = old
print(repr(text))


class Tee:
    def write(self, s):
        old.write(s.upper())

    def flush(self):
        old.flush()


sys.stdout = Tee()
print("loud")
