import lib

print(type(lib.__loader__).__name__, type(lib.__spec__).__name__, lib.__spec__.loader is lib.__loader__)
print(lib.__spec__.name, lib.__file__ == lib.__spec__.origin, lib.__package__ == "", lib.__cached__ == lib.__spec__.cached)
print(lib.__loader__.get_source("lib"), lib.__loader__.get_filename("lib") == lib.__file__)
print(lib.__loader__.get_code("lib").co_names, sorted(k for k in vars(lib) if not k.startswith("__b")))
# --- file: lib.py
x = 1
