# -*- coding: nonsense -*-
# ends: SyntaxError
print("never")
