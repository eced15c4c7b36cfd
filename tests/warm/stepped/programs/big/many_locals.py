source = "def f():\n" + "".join(f"    v{i} = {i}\n" for i in range(400)) + "    return sum(locals().values())\n"
exec(source)
print(f())
import lib

print(lib.f(1))
# --- file: lib.py
def f(a):
    b = c = d = e = g = h = i = j = k = l = m = n = o = p = q = r = s = t = u = v = w = x = y = z = a
    aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm = range(13)
    return len(locals()), b + z + mm
