# ends: SyntaxError: from __future__ imports must occur at the beginning of the file
x = 1
from __future__ import annotations
