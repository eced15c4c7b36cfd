# stdin: Ann\n3\n
name = input("name? ")
for i in range(int(input())):
    print(i, name)
try:
    input("more? ")
except EOFError as error:
    print(error)
