import importlib.machinery
import importlib.util


class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, **kw):
        text = bytes(data).decode().replace("COLOUR", "'red'")
        return super().source_to_code(text.encode(), path, **kw)


loader = Loader("lib", "lib.py")
spec = importlib.util.spec_from_file_location("lib", "lib.py", loader=loader)
module = importlib.util.module_from_spec(spec)
loader.exec_module(module)
print(module.c)
# --- file: lib.py
c = COLOUR
