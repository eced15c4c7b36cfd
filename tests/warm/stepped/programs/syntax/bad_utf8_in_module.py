# ends: SyntaxError
open("lib.py", "wb").write(b"x = '\xff'\n")
import lib
