"""Slow, obvious twins of the measures of information: dictionaries of whole codes, loops, logs."""

import math
from collections import Counter


def entropy(outcomes):
    """Entropy in nats of what was seen, each outcome a hashable thing."""
    n = len(outcomes)
    return -sum(k / n * math.log(k / n) for k in Counter(outcomes).values())


def joint_entropy(bits):
    """H(c) of the codes that are the rows of `bits`, all of them enumerated."""
    return entropy([tuple(map(int, row)) for row in bits])


def total_correlation(bits):
    """TC(c): the sum of the entropies of single bits less that of all bits at once."""
    columns = zip(*bits.tolist(), strict=True)
    return sum(map(entropy, columns)) - joint_entropy(bits)


def mutual_information(bits, y):
    """I(c:y) of whole codes; rows with y < 0 only tell about H(c)."""
    labelled = [label for label in y.tolist() if label >= 0]
    total = joint_entropy(bits)
    for label, count in Counter(labelled).items():
        total -= count / len(labelled) * joint_entropy(bits[y == label])
    return total


def sum_of_single_bits(bits, y):
    """The sum of I(c_l:y) over the bits l."""
    return sum(mutual_information(bits[:, [k]], y) for k in range(bits.shape[1]))


def corex(bits, alpha, posterior, rounds):
    """TC_j of every round, as `FORMULAS` says it, one number at a time.

    `alpha[j][l]` and `posterior[i][j]`, p(z_j = 1 | x_i), are what it starts from.
    """
    n, n_bits = bits.shape
    n_latents = len(alpha)
    history = []
    for turn in range(rounds):
        prior, given = [], []
        for j in range(n_latents):
            weight = {1: [row[j] for row in posterior], 0: [1 - row[j] for row in posterior]}
            prior.append({z: (sum(weight[z]) + 0.001) / (n + 0.002) for z in (0, 1)})
            given.append([])
            for k in range(n_bits):
                counts = {
                    (z, c): sum(weight[z][i] for i in range(n) if bits[i, k] == c) + 0.001
                    for z in (0, 1)
                    for c in (0, 1)
                }
                sums = {c: counts[0, c] + counts[1, c] for c in (0, 1)}
                given[j].append({(z, c): counts[z, c] / sums[c] for z, c in counts})
        if turn:
            alpha = updated(bits, alpha, prior, given, history[-1])
        values = [0.0] * n_latents
        new = []
        for i in range(n):
            new.append([])
            for j in range(n_latents):
                logs = {}
                for z in (0, 1):
                    logs[z] = math.log(prior[j][z])
                    for k in range(n_bits):
                        ratio = given[j][k][z, int(bits[i, k])] / prior[j][z]
                        logs[z] += alpha[j][k] * math.log(ratio)
                top = max(logs.values())
                log_norm = top + math.log(sum(math.exp(v - top) for v in logs.values()))
                new[i].append(math.exp(logs[1] - log_norm))
                values[j] += log_norm / n
        posterior = new
        history.append(values)
    return history


def updated(bits, alpha, prior, given, values):
    """alpha, three tenths nearer to what the ratios ask for."""
    n = len(bits)
    ratios = []
    for j in range(len(alpha)):
        ratios.append([])
        for k in range(bits.shape[1]):
            own = entropy(bits[:, k].tolist())
            shared = 0.0
            for c in (0, 1):
                share = float((bits[:, k] == c).mean())
                for z in (0, 1):
                    p = given[j][k][z, c]
                    shared += share * p * math.log(p / prior[j][z])
            ratios[j].append(shared / own if own and n else 0.0)
    best = [max(column) for column in zip(*ratios, strict=True)]
    return [
        [
            0.7 * a + 0.3 * math.exp((1 + 500 * abs(values[j])) * (ratios[j][k] - best[k]))
            for k, a in enumerate(row)
        ]
        for j, row in enumerate(alpha)
    ]
