import sys

print([getattr(f, "__name__", type(f).__name__) for f in sys.meta_path])
print([getattr(f, "__name__", type(f).__name__) for f in sys.path_hooks])
