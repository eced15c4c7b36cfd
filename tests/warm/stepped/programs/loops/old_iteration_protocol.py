class Seq:
    def __getitem__(self, i):
        print("get", i)
        if i > 2:
            raise IndexError
        return i * i


for x in Seq():
    print(x)
print(list(Seq()), 4 in Seq())
