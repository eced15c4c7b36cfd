import sqlite3

db = sqlite3.connect(":memory:")
db.create_function("twice", 1, lambda x: x * 2)
db.execute("create table t (x)")
with db:
    for i in range(3):
        db.execute("insert into t values (?)", (i,))
print(db.execute("select twice(x) from t").fetchall())
try:
    db.execute("select nothing from t")
except sqlite3.OperationalError as error:
    print(error)
db.close()
