"""A small transformer is trained; prints the milliseconds of the quickest step, and the losses.

An argument switches autograd's anomaly mode on.
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional

WORDS, WIDTH, LENGTH, BATCH, LAYERS = 500, 128, 64, 16, 4
STEPS = int(sys.argv[1])

torch.manual_seed(0)
torch.set_num_threads(1)
layer = [nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True) for _ in range(LAYERS)]
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *layer, nn.Linear(WIDTH, WORDS))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
torch.autograd.set_detect_anomaly("anomaly" in sys.argv, check_nan=True)
times, losses = [], []
for _ in range(STEPS):
    x = torch.randint(WORDS, (BATCH, LENGTH))
    y = torch.randint(WORDS, (BATCH, LENGTH))
    begin = time.process_time()
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    times.append(time.process_time() - begin)
print(min(times) * 1000, losses[-1].hex())
