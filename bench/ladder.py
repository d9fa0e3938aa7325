"""Contestants that are given tighter tolerances until their objective is near enough, or time is over.

Each is timed at the first tolerance that brings it within `NEAR` of a certified bound on the least objective there is.
One that gets no nearer is timed at its last, which the objective in its answer shows; one whose time is over counts
with that time, and its answer says `over`.
"""

from contest import Contestant, python

NEAR = 1e-4

WATCH = """
import json, os, select, signal, sys, time

def watch(limit):
    \"\"\"Goes on as a child; the parent prints its last answer when it ends, or when time is over.\"\"\"
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
    # The next tolerance would have taken at least as long as there was time.
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
    \"\"\"LIBLINEAR itself, without scikit-learn around it; its copy of the rows is not timed.\"\"\"
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
        # Of two classes the first one met has the weights.
        w = w[np.argsort(labels)] if m > 1 else (w if labels[0] == 1 else -w)
        self.coef_, self.intercept_, self.classes_ = w[:, :-1], w[:, -1], np.sort(labels).astype(int)
"""

CLIMB = """
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


def contestant(who, imports, objective, made, options, data, limit=60, ours=False):
    """`made` is the model for some `options`, as an expression; `data` the kind of rows, their path and the bound's."""
    climb = CLIMB.format(options=list(options), made=made, near=NEAR)
    code = "\n".join([WATCH, imports, objective, climb])
    return Contestant(who, python(code, limit, *data), ours)


def near_the_bound(answers):
    ours = answers["mercer"]
    assert ours["objective"] <= ours["target"] * (1 + NEAR), answers
