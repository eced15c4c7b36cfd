# ends: Did you mean: 'total_price'
# needs: 3.10
with open("lib.py", "w") as file:
    for i in range(800):
        file.write(f"x{i % 5} = {i}\n")
    file.write("def f(total_price):\n    return total_prise\n")
import lib

lib.f(1)
