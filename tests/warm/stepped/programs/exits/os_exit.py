# exit: 9
import os
import sys

print("flushed", flush=True)
print("lost")
os._exit(9)
