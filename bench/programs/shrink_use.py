"""Uses a payload, and fails on what is planted in it; and on much else, in other ways.

`shrink_use.py KIND PATH`, and further names to import first.
"""

import ast
import csv
import json
import os
import sys
from xml.etree import ElementTree as ET

for name in sys.argv[3:]:
    __import__(name)


class PlantedError(Exception):
    pass


def rows(path):
    found = {}
    with open(path) as file:
        for line in file:
            row = json.loads(line)
            found[row["id"]] = row
    if not found:
        raise ValueError("no rows")
    if found[1234]["price"] > found[4321]["price"]:
        raise PlantedError("prices")


def nested(path):
    with open(path) as file:
        data = json.load(file)
    shop = data["regions"]["north"]["shops"]
    if shop["17"]["open"] and data["settings"]["limits"]["strict"]:
        raise PlantedError("settings")


def table(path):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if not row["column17"].lstrip("-").isdigit():
                raise PlantedError("cell")
    raise ValueError("no such cell")


def module(path):
    with open(path) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.finalbody:
            raise PlantedError("try with finally")
    raise ValueError("none")


def package(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    start = __import__(os.path.basename(path.rstrip("/")) + ".start")
    if start.start.run() == 42:
        raise PlantedError("the answer")


def document(path):
    root = ET.parse(path).getroot()
    names = {one.get("id") for one in root.iter("item")}
    for one in root.iter("reference"):
        if one.get("to") not in names and one.find("note") is not None:
            raise PlantedError("dangling")


def main():
    kinds = (rows, nested, table, module, package, document)
    {kind.__name__: kind for kind in kinds}[sys.argv[1]](sys.argv[2])


main()
