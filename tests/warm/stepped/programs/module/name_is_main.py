def main():
    print("main runs")
    return 3


if __name__ == "__main__":
    code = main()
    print("code", code)
else:
    print("imported")
