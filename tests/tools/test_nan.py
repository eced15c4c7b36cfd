"""`zeroin nan`: the line that made the first NaN or inf that mattered, and no other."""

from __future__ import annotations

import json
import subprocess

import pytest
from nan_clean import CLEAN
from nan_programs import WRONG

from left_out import heavy

pytestmark = pytest.mark.slow

# What the libraries import on the way, and what hangs in while they do, is seen by these rows;
# to the others they are imported already.
PLAIN = {
    "log of zero in a method of the model",
    "no module at all",
    "torch.compile",
    "in a thread",
    "GradScaler leaves steps out",
    "warnings as errors",
}


@pytest.fixture
def judged(zeroin, project):
    """Run a program under `zeroin nan --json`, by some interpreter."""

    def call(python: str, source: str, *words: str):
        (project / "train.py").write_text(source)
        words = ("nan", "--json", *words, "--", python, "train.py")
        done = zeroin(*words, cwd=project, timeout=250)
        assert done.stdout, done.stderr
        return done, json.loads(done.stdout)

    return call


@pytest.fixture
def nan(judged, libs, warm_torch):
    """Run a program that needs torch under `zeroin nan --json`."""

    def call(source: str, *words: str, plain: bool = False):
        return judged(libs if plain else warm_torch, source, *words)

    return call


def marked(source: str, mark: str) -> int | None:
    """Find the line that a program marks."""
    lines = enumerate(source.splitlines(), 1)
    return next((number for number, line in lines if f"# {mark}" in line), None)


@heavy("torch")
@pytest.mark.parametrize("name", WRONG)
def test_the_culprit_is_named(nan, name):
    """Its operation, line, module, pass and cause; and the exit code is 1."""
    wrong = WRONG[name]
    done, report = nan(wrong.source, plain=name in PLAIN)
    assert (done.returncode, report["verdict"]) == (1, "found"), done.stderr
    finding = report["findings"][0]
    first = finding["first"]
    assert wrong.cause in first["cause"]
    assert (first["kind"], first["what"]) == (wrong.kind, wrong.what)
    assert wrong.operation in ("", first["operation"])
    assert wrong.which in ("", first["phase"])
    assert wrong.how in (None, finding["how"])
    if wrong.module is not None:
        assert first["module"]["name"] == wrong.module
    if line := marked(wrong.source, "HERE"):
        assert first["frames"][-1]["line"] == line
    if line := marked(wrong.source, "FORWARD"):
        assert first["forward"]["line"] == line
    assert not finding["error"]


@heavy("torch")
@pytest.mark.parametrize("name", CLEAN)
def test_what_only_seems_wrong_is_no_finding(nan, project, warm_torch, name):
    """Masks, guards and skipped steps; and the program prints what it prints alone."""
    done, report = nan(CLEAN[name], plain=name in PLAIN)
    alone = subprocess.run(
        [warm_torch, "train.py"], cwd=project, capture_output=True, text=True, check=True
    )
    assert (done.returncode, report["verdict"]) == (0, "clean"), report
    assert alone.stdout in done.stderr
    assert not any(one.get("error") for one in report["processes"])


RANKS = """
import os, socket, sys, torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x) / x.sum()  # HERE

def main(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(Net())
    opt = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(4):
        x = torch.ones(8, 4)
        if rank == 1 and step == 2:
            x = x * 0
        loss = model(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(main, (port,), 2)
"""


@heavy("torch")
def test_the_rank_is_named(nan):
    """Of two processes under DistributedDataParallel; the other one does not wait for ever."""
    done, report = nan(RANKS)
    finding = report["findings"][0]
    assert (done.returncode, finding["rank"]) == (1, "1")
    assert finding["first"]["frames"][-1]["line"] == marked(RANKS, "HERE")
    assert (finding["first"]["module"]["name"], finding["first"]["step"]) == ("Net", 3)


NETWORKS = """
import torch
from torch import nn

torch.manual_seed(1)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
lstm = nn.LSTM(16, 16, 2, dropout=0.1, batch_first=True)
images = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten())
head = nn.Linear(16 + 4 * 36, 5)
parts = nn.ModuleList([layer, lstm, images, head])
opt = torch.optim.AdamW(parts.parameters(), 1e-3)
plan = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=5)
for step in range(5):
    words, pictures = torch.randn(8, 10, 16), torch.randn(8, 1, 8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=step % 2 == 1):
        h, _ = lstm(layer(words))
        out = head(torch.cat([h[:, -1], images(pictures)], 1))
    loss = nn.functional.cross_entropy(out.float(), torch.randint(5, (8,)))
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
    opt.step()
    plan.step()
    print(loss.item().hex(), norm.item().hex())
print(sum(p.double().sum() for p in parts.parameters()).item().hex())
"""


@heavy("torch")
def test_the_numbers_are_those_of_the_plain_run(nan, warm_torch):
    """To the last bit: attention, LSTM, convolution, normalisation, dropout, bf16, AdamW."""
    command = [warm_torch, "-c", NETWORKS]
    alone = subprocess.run(command, capture_output=True, text=True, check=True)
    done, report = nan(NETWORKS)
    assert report["verdict"] == "clean"
    assert alone.stdout in done.stderr
    torch = [one for one in report["processes"] if one["library"] == "torch"]
    assert [one["steps"] for one in torch] == [5]


STEPS = """
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.0)
for step in range(6):
    loss = torch.log(w - 1).sum() if step == 1 else w.sum()
    if step == 4:
        loss = loss / (w - 1).sum()  # HERE
    opt.zero_grad()
    try:
        loss.backward()
        if torch.isfinite(w.grad).all():
            opt.step()
        else:
            opt.zero_grad()
            opt.step()
    except Exception:
        print("caught")
    finally:
        print("step", step, "left")
print("to the end")
"""


@heavy("torch")
def test_it_ends_at_the_first_and_no_handler_holds_it(nan):
    """`except Exception` does not catch the end, `finally` runs."""
    done, report = nan(STEPS)
    assert report["findings"][0]["first"]["step"] == 2
    assert "step 1 left" in done.stderr
    assert "to the end" not in done.stderr
    assert "caught" not in done.stderr
    assert "Traceback" not in done.stderr


@heavy("torch")
def test_go_on_finds_the_later_ones_too(nan):
    """Each line once, in order; the program reaches its end."""
    done, report = nan(STEPS, "--go-on")
    steps = [one["first"]["step"] for one in report["findings"]]
    assert steps == [2, 5]
    assert (done.returncode, "to the end" in done.stderr) == (1, True)


@heavy("torch")
def test_after_some_steps(nan):
    """Nothing is looked at before; the one behind is found."""
    _, report = nan(STEPS, "--after", "3")
    first = report["findings"][0]["first"]
    assert (first["step"], first["frames"][-1]["line"]) == (5, marked(STEPS, "HERE"))


@heavy("torch")
def test_inf_alone_is_told_only_when_asked_for(nan):
    """`--inf` ends at the first arithmetic one; a mask is still none."""
    source = CLEAN["inf in a branch that is not used"]
    done, report = nan(source, "--inf")
    first = report["findings"][0]["first"]
    assert (done.returncode, first["operation"], first["what"]) == (1, "reciprocal", "inf")
    assert nan(CLEAN["a mask of -inf"], "--inf")[1]["verdict"] == "clean"


def test_numpy_says_it_itself(judged, libs):
    """The line, the operation and the values; the warning is printed as always."""
    source = "import numpy as np\ndef f(a):\n    return np.log(a)  # HERE\nf(np.array([-1.0, 2]))\n"
    done, report = judged(libs, source)
    (told,) = report["numpy"]
    assert (done.returncode, report["verdict"]) == (1, "found")
    assert (told["what"], told["operation"], told["frames"][-1]["line"]) == ("NaN", "log", 3)
    assert told["arrays"][0]["name"] == "a"
    assert "train.py:3: RuntimeWarning: invalid value encountered in log" in done.stderr
    quiet = source.replace("f(np", "np.seterr(all='ignore')\nf(np")
    assert judged(libs, quiet)[1]["verdict"] == "unknown"


@heavy("torch")
def test_an_error_of_the_program_looks_as_it_would_alone(nan, project, warm_torch):
    """No frame of ours in the traceback, and the program's own exit code."""
    source = "import torch\na = torch.ones(2, 3)\nb = torch.ones(2, 3)\nprint(a @ b)\n"
    done, report = nan(source, plain=True)
    alone = subprocess.run(
        [warm_torch, "train.py"], cwd=project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, report["verdict"]) == (1, "clean")
    assert "zeroin" not in alone.stderr
    assert alone.stderr.splitlines()[:4] == done.stderr.splitlines()[:4]
    assert "agent/nan" not in done.stderr


@heavy("torch")
def test_a_worker_of_a_data_loader(nan):
    """What a worker made came in with the data; `--sync` shows the line."""
    source = """
import torch
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, n):
        row = torch.full((3,), float(n))
        return row / (n - 5)  # HERE
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), 1e-3)
for x in torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=1):
    opt.zero_grad()
    (model(x) - model(x)).mean().backward()
    opt.step()
"""
    first = nan(source)[1]["findings"][0]["first"]
    assert (first["kind"], first["what"], first["batch"]) == ("data", "inf", 3)
    first = nan(source, "--sync")[1]["findings"][0]["first"]
    assert (first["kind"], first["frames"][-1]["line"]) == ("operation", marked(source, "HERE"))
    assert first["cause"] == "division by the number 0"


@heavy("torch")
def test_the_text_says_it_in_one_line_and_what_to_type(zeroin, project, warm_torch):
    """Verdict, source, inputs, what it led to; the command that is printed works."""
    wrong = WRONG["division by a std of zero"]
    (project / "train.py").write_text(wrong.source)
    done = zeroin("nan", "--", warm_torch, "train.py", cwd=project, timeout=250)
    verdict, *rest = done.stderr.splitlines()
    line = marked(wrong.source, "HERE")
    assert verdict.startswith(f"✗ NaN made by div at train.py:{line} in Norm.forward: division")
    for words in ("│         return centred / centred.std(0)", "module       Model.norm (Norm)"):
        assert any(words in one for one in rest)
    assert any("it reached the loss: train.py:" in one for one in rest)
    (again,) = (one for one in rest if "--go-on" in one)
    shown = again.partition("zeroin ")[2]
    assert zeroin(*shown.split(), cwd=project, timeout=250).returncode == 1


@pytest.fixture
def told(zeroin, project, warm_torch):
    """Run a program under `zeroin nan`, and give what is said."""

    def call(source: str, *words: str) -> str:
        (project / "train.py").write_text(source)
        return zeroin("nan", *words, "--", warm_torch, "train.py", cwd=project, timeout=250).stderr

    return call


@heavy("torch")
def test_a_function_with_a_backward_of_its_own(told):
    """It is named by its class, and its caller is the line that asked for the backward pass."""
    said = told("""\
import torch
class Dbl(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.relu(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / x * x
w = torch.nn.Parameter(torch.tensor([1.0, 0.0]))
opt = torch.optim.SGD([w], 0.1)
def run_backward():
    Dbl.apply(w).sum().backward()
run_backward()
opt.step()
""")
    assert "✗ inf in the backward pass of Dbl at train.py:10 in Dbl.backward" in said, said
    assert "DblBackward, called by train.py:14 in run_backward" in said


JITTED = """
import jax
import jax.numpy as jnp

@jax.jit
def loss(w, x):
    return jnp.where(x > 0, x.sum(), 0.0) + jnp.log(w.sum() - 10.0)  # HERE

print(loss(jnp.ones(3), jnp.array([0.0, -1.0])))
"""


@heavy("jax")
def test_jax_is_asked_itself(nan, told):
    """The operation inside of a compiled function; what it discards within is none."""
    done, report = nan(JITTED)
    assert (done.returncode, report["verdict"]) == (1, "found"), done.stderr
    (told_of,) = report["numpy"]
    assert (told_of["library"], told_of["what"]) == ("jax", "NaN")
    assert told_of["frames"][-1]["line"] == marked(JITTED, "HERE")
    assert {one["name"]: one["text"] for one in told_of["arrays"]}["w"].startswith(
        "ArrayImpl[3] f32"
    )
    assert "✓ no NaN or inf that mattered" in told(
        JITTED.replace("x.sum()", "jnp.log(x)").replace("- 10", "+ 10")
    )
    said = told(JITTED, "--go-on")
    assert "jax could not be looked at: jax fails at the first NaN" in said, said


@heavy("torch")
def test_the_weights_of_the_module_are_told_with_their_numbers(told):
    """They may be what is wrong: here one of them is the divisor."""
    said = told("""\
import torch
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([0.0, 2.0]))
    def forward(self, x):
        return x / self.scale
Scaled()(torch.ones(3, 2)).sum().backward()
""")
    assert "weights      scale: Tensor[2] float32 cpu  min 0 max 2 mean 1  [0, 2]" in said, said


@heavy("torch")
def test_what_was_read_has_not_led_to_nothing(told):
    """One is told; the others that were read are not called harmless, and --go-on tells them."""
    source = """\
import torch
for x in (0.0, 1.0):
    a = torch.tensor([x])
    print((a.log() * 0).item() if x == 0 else 0)
b = torch.tensor([-1.0])
print(b.sqrt().item())
print(torch.tensor([200.0]).exp().item())
"""
    said = told(source)
    assert "✗ -inf made by log at train.py:4" in said, said
    assert "led to nothing" not in said
    said = told(source, "--go-on")
    assert "✗ NaN made by sqrt at train.py:6" in said, said


@heavy("torch")
def test_a_scaler_that_takes_no_step(told):
    """Then nothing is normal about it; and its scale is a number that can be read."""
    said = told("""\
import torch
w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for step in range(3):
    opt.zero_grad()
    scaler.scale(w.half().float().mean()).backward()
    scaler.step(opt)
    scaler.update()
""")
    assert "GradScaler left 3 steps out, its scale is 8.50706e+37, 4.25353e+37" in said, said
    assert "then: no step was taken" in said


@heavy("torch")
def test_weights_that_grew_in_the_first_step(told):
    """What they were before it is known."""
    said = told("""\
import torch
w = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([w], lr=1e30)
for step in range(3):
    opt.zero_grad()
    (w**2).sum().backward()
    opt.step()
""")
    assert "weights grew w, max |w| 1 at first, after step 1: 2e+30" in said, said


def test_without_torch_and_numpy_there_is_nothing_to_look_at(zeroin, project, python):
    """Exit code 125 on each Python; and the modules load there."""
    code = "import sys, importlib as i; [i.import_module('_zeroin_agent.nan.' + n) for n in %r]"
    names = ["about", "arrays", "causes", "judge", "mode", "places", "plans", "report", "training"]
    done = zeroin("nan", "--", python, "-c", code % names, cwd=project)
    assert (done.returncode, "nothing to look at" in done.stderr) == (125, True), done.stderr
    assert zeroin("nan", "--", python, "-c", "raise SystemExit(4)", cwd=project).returncode == 4
    assert zeroin("nan", cwd=project).returncode == 2


def test_a_torch_that_cannot_be_looked_at_is_not_clean(zeroin, project, python):
    """The program runs as it would; the verdict is that nothing is known, with the reason."""
    (project / "torch.py").write_text("__version__ = '0.4'\n")
    (project / "train.py").write_text("import torch\nprint('trained')\n")
    done = zeroin("nan", "--", python, "train.py", cwd=project)
    assert (done.returncode, done.stdout) == (125, "trained\n"), done.stderr
    assert "torch could not be looked at" in done.stderr
    assert "(torch 0.4)" in done.stderr
