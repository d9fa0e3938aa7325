"""Exact inference in Bayesian networks: queries with evidence, against pgmpy.

Two published networks, and two drawn at random with the size of the classical child (20 variables) and
alarm (37 variables) networks. Both read the same BIF file and answer the same queries; the answers must
agree to 1e-9.
"""

import json

import benchmark
from benchmark import Cell, Implementation, python

NETWORKS = benchmark.BENCH.parent / "testdata" / "networks"
QUERIES = 100

OURS = """
import json, sys, time
from mercer.network import BayesianNetwork
network = BayesianNetwork.from_bif(sys.argv[1])
queries = json.load(open(sys.argv[2]))
answers = []
start = time.perf_counter()
for of, evidence in queries:
    answers.append(network.query(of, evidence))
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "answers": answers}))
"""

PGMPY = """
import json, logging, sys, time, warnings
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader
model = BIFReader(sys.argv[1]).get_model()
queries = json.load(open(sys.argv[2]))
inference = VariableElimination(model)
posteriors = []
start = time.perf_counter()
for of, evidence in queries:
    posteriors.append(inference.query([of], evidence=evidence, show_progress=False))
seconds = time.perf_counter() - start
answers = [
    {s: p.get_value(**{of: s}) for s in p.state_names[of]} for (of, _), p in zip(queries, posteriors)
]
print(json.dumps({"seconds": seconds, "answers": answers}))
"""


def drawn(n, seed):
    """A random network as BIF, with its variables and a state each that can happen together."""
    import numpy as np

    random = np.random.default_rng(seed)
    sizes = random.integers(2, 5, n)
    out = ["network drawn {\n}"]
    tables = []
    states = []
    for v in range(n):
        names = ", ".join(f"s{s}" for s in range(sizes[v]))
        out.append(f"variable v{v} {{\n  type discrete [ {sizes[v]} ] {{ {names} }};\n}}")
        near = np.arange(max(0, v - 6), v)
        parents = sorted(random.permutation(near)[: random.integers(0, 4)].tolist())
        rows = list(np.ndindex(*[int(sizes[p]) for p in parents]))
        table = np.round(random.dirichlet(np.ones(sizes[v]), size=len(rows)), 6)
        table[:, -1] = 1 - table[:, :-1].sum(axis=1)
        at = rows.index(tuple(states[p] for p in parents))
        states.append(int(random.choice(sizes[v], p=table[at] / table[at].sum())))
        given = " | " + ", ".join(f"v{p}" for p in parents) if parents else ""
        lines = [f"probability ( v{v}{given} ) {{"]
        for row, cells in zip(rows, table, strict=True):
            head = "(" + ", ".join(f"s{s}" for s in row) + ")" if parents else "table"
            lines.append(f"  {head} {', '.join(f'{p:.6f}' for p in cells)};")
        tables.append("\n".join([*lines, "}"]))
    named = {f"v{v}": [f"s{s}" for s in range(k)] for v, k in enumerate(sizes)}
    return "\n".join(out + tables) + "\n", named, {f"v{v}": f"s{s}" for v, s in enumerate(states)}


def prepare(path, n, seed):
    """The network and its queries."""
    import random as dice

    benchmark.DATA.mkdir(exist_ok=True)
    bif = path.with_suffix(".bif")
    if n:
        text, named, possible = drawn(n, seed)
        bif.write_text(text)
    else:
        from mercer.network import BayesianNetwork

        # Written again without comments and defaults, which not every parser accepts.
        network = BayesianNetwork.from_bif(NETWORKS / bif.name)
        network.to_bif(bif)
        named = network.variables
        possible = {name: column[0] for name, column in network.sample(1, seed).items()}
    chance = dice.Random(seed)
    names = list(named)
    queries = []
    for _ in range(QUERIES):
        of, *seen = chance.sample(names, 4)
        queries.append([of, {name: possible[name] for name in seen}])
    path.with_suffix(".json").write_text(json.dumps(queries))


def same_answers(answers):
    ours, theirs = (result["answers"] for result in answers.values())
    for mine, other in zip(ours, theirs, strict=True):
        assert max(abs(p - other[state]) for state, p in mine.items()) < 1e-9, (mine, other)


def cells(quick):
    for name, n in [("earthquake", 0), ("asia", 0), ("child-size", 20), ("alarm-size", 37)]:
        path = benchmark.DATA / name
        files = [path.with_suffix(".bif"), path.with_suffix(".json")]
        yield Cell(
            f"network-{name}",
            f"{QUERIES} posteriors given three variables, {name} network",
            [
                Implementation("mercer", python(OURS, *files), True),
                Implementation("pgmpy", python(PGMPY, *files)),
            ],
            prepare=lambda path=path, n=n: prepare(path, n, 7),
            check=same_answers,
        )
