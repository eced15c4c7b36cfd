"""A transformer of four blocks, and a loop: what is looked at."""

import numpy as np
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        B, T, C = x.shape  # noqa: N806 - as in models
        y = self.norm1(x)
        q, k, v = self.qkv(y).chunk(3, -1)
        q = q.view(B, T, self.heads, -1).transpose(1, 2)
        k = k.view(B, T, self.heads, -1).transpose(1, 2)
        v = v.view(B, T, self.heads, -1).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)).softmax(-1)
        y = (scores @ v).transpose(1, 2).reshape(B, T, C)
        x = x + self.proj(y)
        z = self.up(self.norm2(x)).relu()
        x = x + self.down(z)
        return x  # noqa: RET504 - a place more


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(64, 4) for _ in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        out = x.mean(1)
        return out  # noqa: RET504


def loop(count):
    total = 0
    for number in range(count):
        twice = number * 2
        total = total + twice
    return total


def arrays(count):
    x = np.zeros((8, 8))
    for _ in range(count):
        y = x.T
    return y
