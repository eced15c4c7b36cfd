"""The docstring stays first."""
from __future__ import annotations, division

print(__doc__, annotations.compiler_flag > 0)
x: nonexistent = 1
print(__annotations__)
