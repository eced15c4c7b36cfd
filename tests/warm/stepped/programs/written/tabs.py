# ends: KeyError
def f(d):
	if d:
		for k in d:
			print(k)
	        # odd comment
	return d["none"]


f({"a": 1})
