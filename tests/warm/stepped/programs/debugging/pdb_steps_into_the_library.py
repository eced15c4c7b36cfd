# ignore: [^ ]*(genericpath|importlib)[^ ]*
# stdin: s\ns\ns\ns\ns\ns\nn\ns\ns\ns\ns\nc\n
import os
import pdb

pdb.set_trace()
found = os.path.exists("main.py")
size = os.stat("main.py").st_size > 10
import json.tool
print(found, size)
