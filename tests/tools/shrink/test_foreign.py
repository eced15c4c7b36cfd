"""Payloads that only their own library reads: cut by the user's interpreter, which has it."""

import subprocess

import pytest

import warm_libraries
from left_out import heavy

MAKE = {
    "table.parquet": """
import pyarrow as pa, pyarrow.parquet as pq
n = 300
table = pa.table({"id": range(n), "name": [f"n{i}" for i in range(n)],
                  "price": [float(i) if i != 211 else None for i in range(n)]})
pq.write_table(table, "table.parquet")
""",
    "table.arrow": """
import pyarrow as pa, pyarrow.feather as ft
n = 300
table = pa.table({"id": range(n), "name": [f"n{i}" for i in range(n)],
                  "price": [float(i) if i != 211 else None for i in range(n)]})
ft.write_feather(table, "table.arrow", compression="uncompressed")
""",
    "stream.arrow": """
import pyarrow as pa
n = 300
table = pa.table({"id": range(n), "price": [float(i) if i != 211 else None for i in range(n)]})
with pa.ipc.new_stream("stream.arrow", table.schema) as out:
    out.write_table(table, max_chunksize=50)
""",
    "image.png": """
from PIL import Image
image = Image.new("RGB", (64, 48), (10, 20, 30))
image.putpixel((40, 30), (255, 0, 0))
image.save("image.png")
""",
    "sky.png": """
from PIL import Image
image = Image.new("P", (8, 8), 2)
image.putpalette([0, 0, 0, 0, 0, 255, 255, 255, 255] * 2)
image.paste(1, (0, 0, 8, 4))
image.save("sky.png")
""",
    "wide.jpg": """
from PIL import Image
image = Image.effect_noise((16, 12), 80).convert("CMYK")
image.save("wide.jpg", quality=90)
""",
    "saved.pt": """
import torch
torch.manual_seed(0)
state = {f"layer{i}": {"weight": torch.randn(20, 30), "bias": torch.randn(20)} for i in range(4)}
state["layer2"]["weight"][7, 11] = float("nan")
torch.save(state, "saved.pt")
""",
    "tensors.safetensors": """
import torch
from safetensors.torch import save_file
state = {f"w{i}": torch.randn(20, 30, dtype=torch.bfloat16) for i in range(3)}
state["w1"][7, 11] = float("nan")
save_file(state, "tensors.safetensors")
""",
    "products.safetensors": """
import torch
from safetensors.torch import save_file
state = {f"q{i}": torch.ones(16, 16) for i in range(12)} | {"v": torch.ones(16, 12)}
save_file(state, "products.safetensors")
""",
}
USE = {
    "table.parquet": """
import sys, pyarrow.parquet as pq
prices = pq.read_table(sys.argv[1])["price"].to_pylist()
if None in prices:
    raise ValueError("no price")
""",
    "table.arrow": """
import sys, pyarrow.feather as ft
prices = ft.read_table(sys.argv[1])["price"].to_pylist()
if None in prices:
    raise ValueError("no price")
""",
    "stream.arrow": """
import sys, pyarrow as pa
if None in pa.ipc.open_stream(sys.argv[1]).read_all()["price"].to_pylist():
    raise ValueError("no price")
""",
    "sky.png": """
import sys
from PIL import Image
image = Image.open(sys.argv[1])
wide, high = image.size
pixels = list(image.getdata())
if wide == high and pixels.count(1) * 2 == len(pixels):
    raise ValueError("half of it is sky")
""",
    "wide.jpg": """
import sys
from PIL import Image
image = Image.open(sys.argv[1])
if image.size[0] > 8 and image.mode == "CMYK" and image.format == "JPEG":
    raise ValueError("too wide")
""",
    "image.png": """
import sys
from PIL import Image
if (255, 0, 0) in list(Image.open(sys.argv[1]).getdata()):
    raise ValueError("red")
""",
    "saved.pt": """
import sys, torch
for layer in torch.load(sys.argv[1]).values():
    if torch.isnan(layer.get("weight", torch.zeros(1))).any():
        raise ValueError("NaN")
""",
    "tensors.safetensors": """
import sys, torch
from safetensors.torch import load_file
for name, weight in load_file(sys.argv[1]).items():
    if torch.isnan(weight).any():
        raise ValueError("NaN")
""",
    "products.safetensors": """
import sys
from safetensors.torch import load_file
state = load_file(sys.argv[1])
for name in sorted(set(state) - {"v"}):
    state[name] @ state["v"].T
""",
}
LEFT = {
    "table.parquet": "import pyarrow.parquet as p; print(p.read_table('table.min.parquet').to_pydict())",
    "table.arrow": "import pyarrow.feather as p; print(p.read_table('table.min.arrow').to_pydict())",
    "stream.arrow": "import pyarrow as p; print(p.ipc.open_stream('stream.min.arrow').read_all().to_pydict())",
    "image.png": "from PIL import Image; print(list(Image.open('image.min.png').getdata()))",
    "sky.png": "from PIL import Image; i = Image.open('sky.min.png'); print(i.mode, i.size, i.getpalette()[3:6])",
    "wide.jpg": "from PIL import Image; i = Image.open('wide.min.jpg'); print(i.mode, i.format, i.size, len(i.getcolors()))",
    "saved.pt": "import torch; print(torch.load('saved.min.pt'))",
    "tensors.safetensors": "from safetensors.torch import load_file; print({k: (v.shape, v.dtype) for k, v in load_file('tensors.min.safetensors').items()})",
    # Without a number left, shapes are all that there is.
    "products.safetensors": "from safetensors.torch import load_file; s = load_file('products.min.safetensors'); v = s.pop('v'); print(len(s), *[v.shape[1] != q.shape[1] for q in s.values()])",
}
ROWS = {"image.png": 1, "sky.png": 2, "wide.jpg": 1, "saved.pt": 2}  # or entries, that are left
EXPECTED = {
    "table.parquet": "{'price': [None]}",
    "table.arrow": "{'price': [None]}",
    "stream.arrow": "{'price': [None]}",
    "image.png": "[(255, 0, 0)]",
    "sky.png": "P (2, 2) [0, 0, 255]",  # rows and columns alone would change its proportions
    "wide.jpg": "CMYK JPEG (9, 1) 1",
    "saved.pt": "{'layer2': {'weight': tensor([[nan]])}}",
    "tensors.safetensors": "{'w1': (torch.Size([1, 1]), torch.bfloat16)}",
    "products.safetensors": "1 True",
}


def as_row(name):
    """Say which interpreter a file needs: Pillow is imported in no time, so a plain one for it."""
    if "torch" in MAKE[name]:
        return pytest.param(warm_libraries.TORCH, name, id=name, marks=heavy("torch"))
    return pytest.param(warm_libraries.TABLES if "pyarrow" in MAKE[name] else (), name, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warm_python", "name"), [as_row(name) for name in MAKE], indirect=["warm_python"]
)
def test_what_is_left_is_what_matters(shrink, project, libs, warm_python, name):
    """One row, one pixel, one number; and the program reads it as it read the whole."""
    run = [warm_python, "-W", "ignore", "-c"]
    subprocess.run([*run, MAKE[name]], cwd=project, check=True)
    (project / "use.py").write_text(USE[name])
    done = shrink(name, "--", warm_python, "use.py", name, timeout=200)
    assert done.told["verdict"] == "found", (done.out, done.err)
    assert done.told["confirmed"]
    if name in ROWS:
        assert done.told["payloads"][0]["parts_after"] == ROWS[name]
    left = subprocess.run(
        [*run, LEFT[name]], cwd=project, capture_output=True, text=True, check=True
    )
    assert left.stdout.strip() == EXPECTED[name]


@pytest.mark.slow
def test_without_the_library_it_is_bytes(shrink, project, warm_tables):
    """The interpreter of the command has no pyarrow: then its bytes are made fewer, and it says so."""
    subprocess.run([warm_tables, "-c", MAKE["table.parquet"]], cwd=project, check=True)
    (project / "use.py").write_text(
        "import sys\nassert b'PAR1' not in open(sys.argv[1], 'rb').read()\n"
    )
    done = shrink("table.parquet", "--", "python", "use.py", "table.parquet")
    assert done.told["verdict"] == "found", (done.out, done.err)
    assert (project / "table.min.parquet").read_bytes() == b"PAR1"
    assert "pyarrow" in done.told["notes"][0]
