# stdin: j 9\nn\nn\np "here"\nr\nc\n
def f():
    import pdb

    pdb.set_trace()
    print("skipped")
    print("skipped")
    print("last")
    return 5


print(f())
