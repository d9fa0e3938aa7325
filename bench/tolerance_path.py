"""Times implementations at the loosest tolerance that reaches the requested objective.

Each implementation is fitted with decreasing tolerances until its objective is within `NEAR` of a certified lower bound.
An implementation that never gets there is timed at its last tolerance, and its objective is part of the result; one that
exceeds the time limit is reported with the limit and marked `over`.
"""

from benchmark import Implementation, python

NEAR = 1e-4

WATCH = """
import json, os, select, signal, sys, time

def watch(limit):
    \"\"\"Continues in a child process; the parent prints its last result when it ends or when the time limit is reached.\"\"\"
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        os.dup2(into, 1)
        return
    os.close(into)
    until, text, over = time.monotonic() + limit, b"", False
    while True:
        over = not select.select([out], [], [], max(0, until - time.monotonic()))[0]
        part = b"" if over else os.read(out, 65536)
        if not part:
            break
        text += part
    if over:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    answers = [json.loads(line) for line in text.decode().splitlines()]
    last = answers[-1] if answers else {}
    # The next tolerance would have taken at least the remaining time.
    print(json.dumps({**last, "fit": limit, "over": True} if over else last), flush=True)
    os._exit(0 if over else os.waitstatus_to_exitcode(status))

watch(float(sys.argv[1]))
import warnings, numpy as np, scipy.sparse as sp
warnings.simplefilter("ignore")
kind, path, bound = sys.argv[2:5]
target = float(open(bound).read())
x = sp.load_npz(path + ".npz") if kind == "sparse" else np.load(path + "-x.npy")
y = np.load(path + "-y.npy")
"""

LIBLINEAR = """
class Liblinear:
    \"\"\"LIBLINEAR itself, not through scikit-learn; the conversion of the rows is not timed.\"\"\"
    def __init__(self, options):
        from liblinear.liblinearutil import problem
        self.options = options
        self.problem = problem(y.astype(float), sp.csr_matrix(x), bias=1)
    def fit(self, x, y):
        from liblinear.liblinearutil import train
        self.model = train(self.problem, "-c 1 -B 1 -q " + self.options)
        return self
    def read(self):
        labels = np.array(self.model.get_labels())
        m = 1 if len(labels) == 2 else len(labels)
        w = np.ctypeslib.as_array(self.model.w, shape=((x.shape[1] + 1) * m,)).reshape(-1, m).T
        # With two classes the weights belong to the first label.
        w = w[np.argsort(labels)] if m > 1 else (w if labels[0] == 1 else -w)
        self.coef_, self.intercept_, self.classes_ = w[:, :-1], w[:, -1], np.sort(labels).astype(int)
"""

SEARCH = """
for options in {options}:
    times, model = [], {made}
    for _ in range(2):
        start = time.perf_counter(); model.fit(x, y); times.append(time.perf_counter() - start)
    getattr(model, "read", lambda: None)()
    answer = {{"fit": min(times), "objective": objective(model), "target": target, "options": str(options)}}
    print(json.dumps(answer), flush=True)
    if answer["objective"] <= target * (1 + {near}):
        break
"""


def implementation(label, imports, objective, made, options, data, limit=60, ours=False):
    """`made` is an expression for the model with given `options`; `data` holds the kind of rows, their path and the path of the
    bound."""
    search = SEARCH.format(options=list(options), made=made, near=NEAR)
    code = "\n".join([WATCH, imports, objective, search])
    return Implementation(label, python(code, limit, *data), ours)


def near_the_bound(answers):
    ours = answers["mercer"]
    assert ours["objective"] <= ours["target"] * (1 + NEAR), answers
