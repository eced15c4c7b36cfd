# exit: 120
import os

print("never seen")
os.close(1)
