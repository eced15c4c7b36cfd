def f():
  a = 1
  if a:
        b = 2
        return a + b
  else:
   return 0
class A:
 x = 1
 def m(self):
                return self.x
print(f(), A().m())
