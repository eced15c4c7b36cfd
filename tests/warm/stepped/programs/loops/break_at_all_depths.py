def f():
    for i in range(4):
        for j in range(4):
            while True:
                if j == 2:
                    break
                for k in range(3):
                    if k == i:
                        break
                    print(i, j, k)
                else:
                    print("k done")
                break
            else:
                print("never")
            if i == 2:
                break
        else:
            print("j done", i)
            continue
        print("broken", i, j)
    return i, j, k


print(f())
