# PYTHONHASHSEED is 0: sets of strings come in the same order.
s = {"apple", "pear", "fig", "kiwi"}
print(s, list({c for c in "hello world"}))
print(hash("x") == hash("x"), hash((1, 2)), hash(1.5))
