def f(n): return n + 1
def g(n): n += 1; n *= 2; return n
class A: x = 1; y = x + 1
if f(1) == 2: print("yes"); print("indeed")
for i in range(2): print(i); print(g(i))
while False: pass
else: print("else")
print(A.x, A.y)
