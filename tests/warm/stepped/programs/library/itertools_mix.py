import itertools as it
import operator
from collections import Counter, OrderedDict, defaultdict, deque

words = "the cat the dog a cat".split()
groups = defaultdict(list)
for w in words:
    groups[len(w)].append(w)
print(dict(groups), Counter(words).most_common(2))
print([(k, list(g)) for k, g in it.groupby(sorted(words))])
print(list(it.islice(it.cycle("ab"), 5)), list(it.accumulate([1, 2, 3], operator.mul)))
d = deque(maxlen=2)
for i in range(4):
    d.append(i)
print(d, list(it.chain.from_iterable([[1], [2]])), OrderedDict(a=1))
