# ends: third
raise ValueError("first\nsecond\n  third")
