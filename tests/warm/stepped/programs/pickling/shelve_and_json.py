import json
import os
import shelve

with shelve.open("db") as db:
    db["a"] = {"x": [1, 2]}
with shelve.open("db") as db:
    print(dict(db))


class E(json.JSONEncoder):
    def default(self, o):
        return f"<{type(o).__name__}>"


print(json.dumps({"a": {1, 2}}, cls=E))
try:
    json.loads("{bad")
except json.JSONDecodeError as error:
    print(error)
