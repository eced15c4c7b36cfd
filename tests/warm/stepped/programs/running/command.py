# run: -c "import sys; print(sys.argv, __name__); 1/0" a b
# ends: ZeroDivisionError
