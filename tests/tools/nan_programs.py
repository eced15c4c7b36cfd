"""Small trainings that go wrong, each in one known line.

`# HERE` marks the line that makes the first NaN or inf that matters; `# FORWARD` the line of
the forward pass whose backward step does.
"""

from __future__ import annotations

from typing import NamedTuple

TRAIN = """
torch.manual_seed(0)
model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(8, 4)
    opt.zero_grad()
    loss = model(x).mean()
    loss.backward()
    opt.step()
print("trained", float(loss))
"""

MODEL = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
"""


class Wrong(NamedTuple):
    """A program with a culprit: what is to be said of it."""

    source: str
    operation: str
    cause: str  # a part of the sentence
    what: str = "NaN"
    module: str | None = None
    which: str = "forward"  # pass
    kind: str = "operation"
    how: str | None = None


SAVED = """
import torch
broken = torch.nn.Linear(3, 1)
with torch.no_grad():
    broken.weight[0, 2] = float("nan")
"""

WRONG = {
    "log of zero in a method of the model": Wrong(
        MODEL
        + """
    def forward(self, x):
        p = torch.softmax(self.fc(x) * 500, -1)
        return -torch.log(p)  # HERE
"""
        + TRAIN,
        "log",
        "log of 0 at [",
        what="-inf",
        module="Model",
    ),
    "no module at all": Wrong(
        """
import torch
w = torch.tensor([1.0, -3.0], requires_grad=True)
for step in range(3):
    y = torch.sqrt(w)  # HERE
    loss = (y ** 2).sum()
    loss.backward()
""",
        "sqrt",
        "sqrt of a negative number: -3, first at [1]",
        how="loss",
    ),
    "division by a std of zero": Wrong(
        """
import torch
from torch import nn
torch.manual_seed(0)
class Norm(nn.Module):
    def forward(self, x):
        centred = x - x.mean(0)
        return centred / centred.std(0)  # HERE
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        x = x * torch.tensor([1.0, 1.0, 0.0, 1.0])
        return self.fc(self.norm(x))
"""
        + TRAIN,
        "div",
        "by 0 at [2] of the divisor",
        module="Model.norm",
    ),
    "sqrt at zero, only in the backward pass": Wrong(
        MODEL
        + """
    def forward(self, x):
        distance = (self.fc(x) * torch.tensor([1.0, 0.0, 1.0])) ** 2
        return torch.sqrt(distance)  # FORWARD
"""
        + TRAIN,
        "div",
        "the slope of sqrt is infinite at 0",
        what="inf",
        module="Model",
        which="backward",
        how="gradient",
    ),
    "the trap of torch.where": Wrong(
        MODEL
        + """
    def forward(self, x):
        y = self.fc(x).abs() * torch.tensor([1.0, 0.0, 1.0])
        return torch.where(y > 0, torch.log(y), 0.0)  # FORWARD
"""
        + TRAIN,
        "div",
        "discarded that value in the forward pass, not in the backward pass",
        module="Model",
        which="backward",
        how="gradient",
    ),
    "learning rate too high": Wrong(
        """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=100.0)
for step in range(50):
    x = torch.randn(8, 4)
    opt.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    opt.step()
""",
        "",
        "does not fit into f32",
        what="inf",
        which="",
    ),
    "NaN in the data": Wrong(
        """
import numpy, torch
from torch.utils.data import DataLoader, TensorDataset
table = numpy.random.default_rng(0).normal(size=(40, 5)).astype("float32")
table[[28, 30], 3] = numpy.nan
data = TensorDataset(torch.from_numpy(table), torch.zeros(40, 1))
model = torch.nn.Sequential(torch.nn.Linear(5, 1))
opt = torch.optim.Adam(model.parameters())
for x, y in DataLoader(data, batch_size=8):
    loss = torch.nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        "",
        "column 3, rows 28, 30",
        kind="data",
    ),
    "f16 overflow": Wrong(
        """
import torch
x = torch.full((4, 4), 300.0).half()
w = torch.ones(4, 4, dtype=torch.float16, requires_grad=True)
y = (x * w).square()  # HERE
loss = (y - y.mean()).float().sum()
loss.backward()
""",
        "pow",
        "90,000 does not fit into f16 (largest 65,504)",
        what="inf",
    ),
    "a conversion to f16": Wrong(
        """
import torch
scale = torch.tensor([70000.0, 1.0], requires_grad=True)
half = scale.half()  # HERE
(half - half).sum().backward()
""",
        "_to_copy",
        "70,000 does not fit into f16 (largest 65,504)",
        what="inf",
    ),
    "bf16 under autocast": Wrong(
        MODEL
        + """
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.fc(x)
            return torch.exp(h * 1e4).mean() - torch.exp(h.abs() * 1e5).mean()  # HERE
"""
        + TRAIN,
        "exp",
        "its result does not fit into bf16",
        what="inf",
        module="Model",
    ),
    "a row that is masked throughout": Wrong(
        """
import torch
from torch import nn
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qk = nn.Linear(4, 4)
    def forward(self, x, *, mask):
        scores = self.qk(x) @ x.transpose(-1, -2)
        scores = scores.masked_fill(mask, float("-inf"))
        return {"weights": torch.softmax(scores, -1)}  # HERE
model = Attention()
opt = torch.optim.SGD(model.parameters(), 0.1)
mask = torch.zeros(2, 5, 5, dtype=torch.bool)
mask[1, 2] = True
loss = model(torch.randn(2, 5, 4), mask=mask)["weights"].sum()
loss.backward()
opt.step()
""",
        "_softmax",
        "1 of 10 rows are -inf throughout (row [1, 2])",
        module="Attention",
    ),
    "the second of two networks": Wrong(
        """
import torch
from torch import nn
torch.manual_seed(0)
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
    def forward(self, x):
        return torch.log(self.fc(x).clamp_min(0))  # HERE
maker, critic = nn.Linear(2, 4), Critic()
a, b = torch.optim.Adam(maker.parameters()), torch.optim.Adam(critic.parameters())
for step in range(3):
    fake = maker(torch.randn(8, 2))
    a.zero_grad()
    fake.square().mean().backward()
    a.step()
    b.zero_grad()
    loss = -critic(fake.detach()).mean()
    loss.backward()
    b.step()
""",
        "log",
        "log of 0 at [",
        what="-inf",
        module="Critic",
    ),
    "within a checkpoint": Wrong(
        """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        return self.fc(x) / (x - x)  # HERE
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), Block()])
    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x
"""
        + TRAIN,
        "div",
        "by 0 at [0, 0]",
        what="inf",
        module="Model.blocks.1",
    ),
    "backward through a checkpoint": Wrong(
        """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        return torch.sqrt(self.fc(x).abs() * 0)  # FORWARD
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)
"""
        + TRAIN,
        "div",
        "slope of sqrt",
        what="inf",
        module="Model.block",
        which="backward",
        how="gradient",
    ),
    "torch.compile": Wrong(
        MODEL
        + """
    def forward(self, x):
        return torch.acos(self.fc(x) + 3)  # HERE
"""
        + TRAIN.replace("model = Model()", "model = torch.compile(Model())"),
        "acos",
        "outside of -1 to 1",
        module="Model",
    ),
    "a scripted function": Wrong(
        """
import torch
@torch.jit.script
def score(x):
    return torch.log(x - 1.0)
w = torch.ones(3, requires_grad=True)
loss = score(w * 0.5).sum()  # HERE
loss.backward()
""",
        "log",
        "log of a negative number: -0.5",
    ),
    "in place": Wrong(
        """
import torch
w = torch.ones(3, requires_grad=True)
x = w * torch.tensor([0.0, 1.0, 2.0])
x.div_(torch.tensor([0.0, 1.0, 2.0]))  # HERE
x.mul_(2).add_(1)
x.sum().backward()
""",
        "div_",
        "by 0 at [0] of the divisor",
    ),
    "a dataclass, a dict and keywords": Wrong(
        """
import torch
from dataclasses import dataclass
from torch import nn
torch.manual_seed(0)
@dataclass
class Output:
    hidden: torch.Tensor
    scores: dict
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, *, batch):
        h = self.fc(batch["x"])
        return Output(h, {"rate": torch.rsqrt(h - h.max())})  # HERE
head = Head()
out = head(batch={"x": torch.randn(3, 4)})
loss = out.scores["rate"].mean() + out.hidden.mean()
loss.backward()
""",
        "rsqrt",
        "rsqrt of a negative number",
        module="Head",
    ),
    "a module that is used twice": Wrong(
        """
import torch
from torch import nn
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Softplus()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        x = self.fc(self.act(x))
        return torch.log(self.act(x) - self.act(x))  # HERE
torch.manual_seed(0)
net = Twice()
net(torch.randn(2, 3)).sum().backward()
""",
        "log",
        "log of 0",
        what="-inf",
        module="Twice",
    ),
    "all targets ignored": Wrong(
        """
import torch
from torch.nn import functional as F
torch.manual_seed(0)
w = torch.randn(4, 3, requires_grad=True)
loss = F.cross_entropy(w, torch.full((4,), -100))  # HERE
loss.backward()
""",
        "nll_loss_forward",
        "all 4 targets are ignored",
    ),
    "the optimizer divides by zero": Wrong(
        """
import torch
w = torch.ones(3, requires_grad=True)
opt = torch.optim.Adam([w], eps=0.0, foreach=False)
(w * torch.tensor([0.0, 1.0, 1.0])).sum().backward()
opt.step()  # HERE
""",
        "addcdiv_",
        "by 0 at [0] of the divisor",
        which="optimizer",
        how="weight",
    ),
    "a closure that the optimizer calls": Wrong(
        """
import torch
w = torch.tensor([1.0, 0.2], requires_grad=True)
opt = torch.optim.LBFGS([w])
def closure():
    loss = torch.sqrt(w - 0.5).sum()  # HERE
    opt.zero_grad()
    loss.backward()
    return loss
opt.step(closure)
""",
        "sqrt",
        "sqrt of a negative number: -0.3, first at [1]",
        which="forward",
        how="loss",
    ),
    "memory that nobody wrote to": Wrong(
        """
import torch
pool = torch.full((64,), float("nan"))
pool.untyped_storage()
del pool
buffer = torch.empty(64)  # FORWARD
buffer_view = buffer[:2]
buffer.view(torch.int32)[5] = 0x7fc00000
w = torch.ones(64, requires_grad=True)
loss = (w * buffer).sum()
loss.backward()
""",
        "",
        "torch.empty gave",
        kind="uninitialised",
    ),
    "written into a weight": Wrong(
        """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
state = model.state_dict()
state["2.weight"][0, 1] = float("nan")  # HERE
model(torch.randn(4, 3)).square().mean().backward()
""",
        "",
        "NaN is written there",
        kind="written",
    ),
    "a target whose class is masked": Wrong(
        """
import torch
from torch.nn import functional as F
torch.manual_seed(0)
w = torch.randn(4, 3, requires_grad=True)
mask = torch.zeros(4, 3)
mask[2, 1] = float("-inf")  # HERE
F.cross_entropy(w + mask, torch.ones(4, dtype=torch.long)).backward()
""",
        "",
        "inf is written there",
        what="-inf",
        kind="written",
    ),
    "a checkpoint with NaN in it": Wrong(
        """
import io, numpy, torch
model = torch.nn.Linear(3, 1)
table = numpy.ones((1, 3), "float32")
table[0, 2] = numpy.nan
model.weight = torch.nn.Parameter(torch.from_numpy(table))
model(torch.randn(4, 3)).mean().backward()
""",
        "",
        "",
        kind="data",
    ),
    "a state with NaN that is loaded": Wrong(
        SAVED
        + """
torch.save(broken.state_dict(), "state.pt")
model = torch.nn.Linear(3, 1)
model.load_state_dict(torch.load("state.pt"))  # HERE
model(torch.randn(4, 3)).mean().backward()
""",
        "copy_",
        "1 NaN and 0 inf were in what was loaded into it",
        kind="weight",
    ),
    "a module with NaN that is loaded whole": Wrong(
        SAVED
        + """
torch.save(broken, "whole.pt")
model = torch.load("whole.pt", weights_only=False)
model(torch.randn(4, 3)).mean().backward()  # HERE
""",
        "addmm",
        "1 NaN and 0 inf were in it when it was first used",
        kind="weight",
    ),
    "a gradient that is left at the end": Wrong(
        """
import torch
x = torch.zeros(2, requires_grad=True)
torch.sqrt(x).sum().backward()  # FORWARD
print(x.grad)
""",
        "div",
        "the slope of sqrt is infinite at 0",
        what="inf",
        which="backward",
        how="end",
    ),
    "a gradient that is printed and freed": Wrong(
        """
import torch
def slope(x):
    (g,) = torch.autograd.grad(torch.sqrt(x).sum(), x)  # FORWARD
    print(g)
slope(torch.zeros(2, requires_grad=True))
""",
        "div",
        "the slope of sqrt is infinite at 0",
        what="inf",
        which="backward",
        how="end",
    ),
    "a gradient of x that is handed to numpy": Wrong(
        """
import torch
def attack():
    x = torch.zeros(2, requires_grad=True)
    torch.sqrt(x).sum().backward()  # FORWARD
    return x.grad.numpy().copy()
print(attack())
""",
        "div",
        "the slope of sqrt is infinite at 0",
        what="inf",
        which="backward",
        how="end",
    ),
    "a gradient that a hook reads": Wrong(
        """
import torch
x = torch.zeros(2, requires_grad=True)
y = x * 1
y.register_hook(lambda g: print("largest", g.max().item()))
torch.sqrt(y).sum().backward()  # FORWARD
x.grad = None
""",
        "div",
        "the slope of sqrt is infinite at 0",
        what="inf",
        which="backward",
        how="end",
    ),
    "the own update of a training without an optimizer": Wrong(
        """
import torch
w = torch.zeros(3, requires_grad=True)
for step in range(3):
    loss = w.norm() + torch.sqrt((w * w).sum())  # FORWARD
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
""",
        "",
        "slope of sqrt",
        what="inf",
        which="backward",
        how="loss",
    ),
    "GradScaler leaves every step out": Wrong(
        """
import torch
w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], 0.01)
scaler = torch.amp.GradScaler("cpu")
for step in range(30):
    opt.zero_grad()
    loss = torch.sqrt(w.abs()).sum()  # FORWARD
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
""",
        "div",
        "slope of sqrt",
        what="inf",
        which="backward",
        how="scaler",
    ),
    "a function of its own": Wrong(
        """
import torch
class Ratio(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * 1.0
    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad / b, None  # HERE
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
Ratio.apply(w, torch.zeros(3)).sum().backward()
opt.step()
""",
        "div",
        "",
        what="inf",
        which="backward",
        how="gradient",
    ),
    "read at the end, without gradients": Wrong(
        """
import torch
with torch.no_grad():
    x = torch.zeros(3)
    rate = x / x  # HERE
    print("rate", rate.mean().item())
""",
        "div",
        "division of 0 by 0",
        how="end",
    ),
    "handed to numpy": Wrong(
        """
import torch
x = torch.tensor([4.0, -4.0])
root = torch.sqrt(x)  # HERE
print(root.numpy().sum())
""",
        "sqrt",
        "sqrt of a negative number",
        how="end",
    ),
    "the program notices it itself": Wrong(
        """
import torch
p = torch.zeros(3)
p = p / p.sum()  # HERE
torch.multinomial(p, 1)
""",
        "div",
        "by 0",
        how="end",
    ),
    "in a thread": Wrong(
        """
import threading, torch
def work():
    w = torch.ones(2, requires_grad=True)
    loss = torch.log(w - 2).sum()  # HERE
    loss.backward()
thread = threading.Thread(target=work)
thread.start()
thread.join()
""",
        "log",
        "log of a negative number",
    ),
    "vmap and grad of functorch": Wrong(
        """
import torch
from torch.func import grad, vmap
def loss(w):
    return torch.log(w - 1).sum()  # HERE
x = torch.ones(3, 2) * 0.5
print(vmap(grad(loss))(x).sum().item())
print(vmap(loss)(x).sum().item())
""",
        "log",
        "log of a negative number",
    ),
}
