import os

print(sorted(k for k in os.environ if k.startswith("ZEROIN_WARM")))
print(os.environ.get("HOME") is not None, os.environ.get("NOPE"))
os.environ["MADE"] = "1"
print(os.getenv("MADE"))
