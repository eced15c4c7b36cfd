# needs: 3.12
# bytes: nul
# exit: 1
print("before")
x = 1 <NUL> + 2
