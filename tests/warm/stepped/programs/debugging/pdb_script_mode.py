# run: -m pdb -c continue main.py
# stdin: w\np n\nq\nq\n
def f(n):
    return 1 / n


try:
    f(0)
except ZeroDivisionError as error:
    print(error.__traceback__.tb_next.tb_lineno)
f(0)
