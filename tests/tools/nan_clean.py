"""Small trainings that only seem to go wrong: what is not finite in them does no harm."""

from __future__ import annotations

from nan_programs import MODEL, TRAIN

CLEAN = {
    "a mask of -inf": """
import torch
from torch.nn import functional as F
torch.manual_seed(0)
w = torch.randn(2, 5, 5, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
for step in range(3):
    mask = torch.triu(torch.full((5, 5), float("-inf")), 1)
    p = F.softmax(w + mask, -1)
    q = F.scaled_dot_product_attention(w, w, w, attn_mask=mask)
    (p.sum() + q.sum()).backward()
    opt.step()
print("done")
""",
    "GradScaler leaves steps out": """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), 0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
for step in range(12):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(torch.randn(8, 4))
    loss = out.float().square().mean()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
print("scale", scaler.get_scale())
""",
    "inf in a branch that is not used": """
import torch
w = torch.tensor([0.0, 2.0], requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
unused = 1 / w.detach()
loss = torch.where(w.detach() > 0, w, w * 2).sum()
loss.backward()
opt.step()
print("done")
""",
    "torch.where takes the NaN away": """
import torch
x = torch.tensor([-1.0, 1.0])
w = torch.ones(2, requires_grad=True)
safe = torch.where(x > 0, torch.log(x), torch.zeros(2))
(w * safe).sum().backward()
print(torch.nan_to_num(torch.sqrt(x)).sum().item())
""",
    "start values of inf": """
import torch
torch.manual_seed(0)
best = torch.tensor(float("inf"))
low = torch.full((3,), float("inf"))
for step in range(3):
    low = torch.minimum(low, torch.rand(3))
    best = torch.minimum(best, low.min())
print(best.item() < 1, float("inf") > best, torch.full((2,), float("nan")))
""",
    "log of zero that is multiplied away by a limit": """
import torch
p = torch.tensor([0.0, 0.5, 0.5])
w = torch.ones(3, requires_grad=True)
entropy = torch.special.entr(p)
(w * entropy).sum().backward()
logits = torch.log(p)
print(torch.softmax(logits, -1).sum().item())
""",
    "odd tensors, and other modes": """
import warnings
warnings.simplefilter("ignore")
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU())
x = torch.randn(4, 3)
print(torch.jit.trace(m, x)(x).sum().item(), torch.jit.script(m)(x).sum().item())
print(torch.export.export(m.eval(), (x,)).module()(x).sum().item())
print((torch.eye(3).to_sparse() @ x.T).sum().item(), torch.fft.fft(x).abs().sum().item())
print(torch.nested.nested_tensor([x[0], x[1, :2]]).to_padded_tensor(0).sum().item())
with FakeTensorMode():
    print((torch.ones(3) / 0).shape)
with FlopCounterMode(display=False) as counter:
    m(x)
print(counter.get_total_flops(), (torch.ones(3, device="meta") / 0).shape)
print(torch.func.hessian(lambda a: (a ** 3).sum())(x[0]).sum().item())
print(x.to(torch.float8_e4m3fn).float().sum().item(), nn.DataParallel(m)(x).sum().item())
freed = torch.ones(5)
freed.untyped_storage().resize_(0)
print(freed.shape, freed.detach().shape)
""",
    "warnings as errors": """
import warnings
import torch
from torch import nn
warnings.simplefilter("error")
warnings.simplefilter("ignore", DeprecationWarning)
m = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
print(torch.jit.trace(m, torch.ones(2, 3))(torch.ones(2, 3)).shape)
print(torch.compile(m, backend="eager")(torch.ones(2, 3)).shape)
""",
    "gradients that the program itself skips": """
import torch
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
torch.sqrt(w).sum().backward()
if torch.isfinite(w.grad).all():
    opt.step()
print("done")
""",
    "a training without any": MODEL
    + """
        self.bn = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.3)
    def forward(self, x):
        return self.drop(self.bn(self.fc(x))).square()
"""
    + TRAIN,
    "a norm that is logged while GradScaler leaves steps out": """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), 0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
for step in range(6):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(torch.randn(8, 4))
    scaler.scale(out.float().square().mean()).backward()
    scaler.unscale_(opt)
    print(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
    scaler.step(opt)
    scaler.update()
""",
    "clipped gradients that a function skips": """
import torch
def main():
    w = torch.zeros(2, requires_grad=True)
    opt = torch.optim.SGD([w], 0.1)
    torch.sqrt(w).sum().backward()
    if torch.isfinite(torch.nn.utils.clip_grad_norm_([w], 1.0)):
        opt.step()
    return w
left = main()
print("done")
""",
    "NaN that is set in place": """
import torch
x = torch.zeros(3)
by_index, by_mask = x / x, x / x
by_index[torch.isnan(by_index)] = 0
by_mask.masked_fill_(by_mask != by_mask, 1)
print(by_index, by_mask)
""",
}
