#!/usr/bin/env python3
# ends: KeyError: 1
print("with a shebang line")
{}[1]
