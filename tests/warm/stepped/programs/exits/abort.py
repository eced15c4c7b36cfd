# exit: -6
import os
import sys

sys.stdout.write("partial")
sys.stdout.flush()
os.abort()
