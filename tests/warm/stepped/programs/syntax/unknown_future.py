# ends: SyntaxError: future feature braces_not is not defined
from __future__ import braces_not
