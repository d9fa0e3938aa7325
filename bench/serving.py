#!/usr/bin/env python3
"""Requests per second and latency of `mercer serve` beside MLServer, MLflow and BentoML, on the loopback interface.

    python3 bench/serving.py --mercer target/release/mercer                  # Mercer alone
    python3 bench/serving.py --mercer target/release/mercer --peers FOLDER   # also the peers

Needs wrk (Debian package). FOLDER is a folder of virtual environments, as made by

    python3 -m venv FOLDER/mlserver && FOLDER/mlserver/bin/pip install mlserver==1.7.1 mlserver-sklearn==1.7.1 'uvloop<0.22'
    python3 -m venv FOLDER/mlflow   && FOLDER/mlflow/bin/pip install mlflow==3.17.2 scikit-learn uvloop httptools
    python3 -m venv FOLDER/bentoml  && FOLDER/bentoml/bin/pip install bentoml==1.4.39 scikit-learn

All servers have a logistic regression of the same table of 20 numeric columns and two classes. One row or 100 rows per
request, 1 and 16 connections, 6 seconds each; then 1,000 connections to Mercer. Load and servers share the cores, so the figures
compare servers and are no absolute limits.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

N_COLUMNS = 20
N_TRAINING_ROWS = 2_000
SECONDS = 6

LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = io.open("{body}")
wrk.body = file:read("*a")
"""


def table(seed=1):
    """Rows of 20 numbers and their class."""
    draw = random.Random(seed)
    weights = [draw.gauss(0, 1) for _ in range(N_COLUMNS)]
    rows = []
    for _ in range(N_TRAINING_ROWS):
        x = [round(draw.gauss(0, 1), 4) for _ in range(N_COLUMNS)]
        score = sum(w * v for w, v in zip(weights, x, strict=True)) + draw.gauss(0, 1)
        rows.append((x, int(score > 0)))
    return rows


def wait_for(url, server, seconds=60):
    """Waits until a server answers."""
    start = time.time()
    while time.time() - start < seconds:
        try:
            urllib.request.urlopen(url, timeout=1).read()
            return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"the server of {url} ended") from None
            time.sleep(0.2)
    raise SystemExit(f"{url} does not answer")


def wrk(program, url, body, connections, folder):
    """Requests per second, p50 and p99 in milliseconds, and the number of responses that are not 200."""
    (folder / "body.json").write_text(body)
    (folder / "post.lua").write_text(LUA.format(body=folder / "body.json"))
    threads = "1" if connections < 100 else "2"
    command = [program, f"-t{threads}", f"-c{connections}", f"-d{SECONDS}s", "--latency"]
    command += ["-s", str(folder / "post.lua"), url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + 60, check=True)
    text = done.stdout

    def milliseconds(quantile):
        found = re.search(rf"^\s+{quantile}%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.M)
        if found is None:
            raise SystemExit(f"wrk printed no latencies:\n{text}")
        return float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}[found[2]]

    errors = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    socket_errors = re.search(r"Socket errors: (.*)", text)
    return {
        "requests_per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)),
        "p50_ms": milliseconds(50),
        "p99_ms": milliseconds(99),
        "not_200": int(errors.group(1)) if errors else 0,
        "socket_errors": socket_errors.group(1) if socket_errors else "",
    }


def v2_body(rows):
    """A request of the Open Inference Protocol."""
    tensor = {"name": "x", "datatype": "FP64", "shape": [len(rows), N_COLUMNS]}
    return json.dumps({"inputs": [{**tensor, "data": [v for row in rows for v in row]}]})


def start_mercer(program, folder, rows):
    """Trains and serves a model; returns the server and its address."""
    csv = folder / "rows.csv"
    names = [f"x{k}" for k in range(N_COLUMNS)]
    lines = [",".join([*names, "y"])] + [",".join(map(str, [*x, y])) for x, y in rows]
    csv.write_text("\n".join(lines) + "\n")
    model = folder / "lr.mercer"
    train = [program, "train", str(csv), "--target", "y", "--model", "logistic", "-q"]
    subprocess.run([*train, "--out", str(model)], check=True, cwd=folder)
    command = [program, "serve", str(model), "--listen", "127.0.0.1:8080", "-q"]
    server = subprocess.Popen(command)
    wait_for("http://127.0.0.1:8080/v2/health/ready", server)
    return server


SKLEARN = """
import json, sys, pickle
from sklearn.linear_model import LogisticRegression
rows = json.load(open("rows.json"))
model = LogisticRegression().fit([x for x, _ in rows], [y for _, y in rows])
"""


def start_peer(name, peers, folder, rows):
    """Serves the same rows' model with a peer; returns the server, its URL and the form of its body."""
    bin_folder = (peers / name / "bin").resolve()
    (folder / "rows.json").write_text(json.dumps(rows))
    python = str(bin_folder / "python")
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def prepare(code):
        subprocess.run([python, "-c", SKLEARN + code], check=True, cwd=folder, env=env)

    if name == "mlserver":
        prepare("import joblib; joblib.dump(model, 'model.joblib')")
        settings = {"name": "lr", "implementation": "mlserver_sklearn.SKLearnModel"}
        settings["parameters"] = {"uri": "./model.joblib"}
        (folder / "model-settings.json").write_text(json.dumps(settings))
        ports = {"http_port": 8081, "grpc_port": 8181, "metrics_port": 8182, "debug": False}
        (folder / "settings.json").write_text(json.dumps({**ports, "parallel_workers": 0}))
        server = subprocess.Popen(
            [str(bin_folder / "mlserver"), "start", "."],
            cwd=folder,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for("http://127.0.0.1:8081/v2/health/ready", server)
        return server, "http://127.0.0.1:8081/v2/models/lr/infer", v2_body
    if name == "mlflow":
        prepare("import mlflow.sklearn; mlflow.sklearn.save_model(model, 'mlflow_model')")
        command = [str(bin_folder / "mlflow"), "models", "serve", "-m", "mlflow_model"]
        command += ["--env-manager", "local", "-h", "127.0.0.1", "-p", "8082", "--workers", "2"]
        server = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for("http://127.0.0.1:8082/ping", server)
        return server, "http://127.0.0.1:8082/invocations", lambda r: json.dumps({"inputs": r})
    prepare("pickle.dump(model, open('model.pkl', 'wb'))")
    (folder / "service.py").write_text(
        "import pickle, numpy as np, bentoml\n"
        "@bentoml.service(workers=1)\n"
        "class LR:\n"
        "    def __init__(self): self.model = pickle.load(open('model.pkl', 'rb'))\n"
        "    @bentoml.api\n"
        "    def predict(self, rows: np.ndarray) -> np.ndarray: return self.model.predict(rows)\n"
    )
    command = [str(bin_folder / "bentoml"), "serve", "service:LR", "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [*command, "--port", "8083"],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for("http://127.0.0.1:8083/readyz", server)
    return server, "http://127.0.0.1:8083/predict", lambda r: json.dumps({"rows": r})


def stop(server):
    """Ends a server, by force after ten seconds."""
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def measure(program, server_name, url, body_of, rows, folder):
    """Prints one line per number of rows and connections."""
    for n_rows in (1, 100):
        body = body_of([x for x, _ in rows[:n_rows]])
        for connections in (1, 16):
            wrk_result = wrk(program, url, body, connections, folder)
            show(server_name, n_rows, connections, wrk_result)


def show(name, n_rows, connections, r):
    """Prints one line of the table."""
    print(
        f"| {name} | {n_rows} | {connections} | {r['requests_per_second']:,.0f} | {r['p50_ms']:.2f} | "
        f"{r['p99_ms']:.2f} | {r['not_200']} | {r['socket_errors']} |",
        flush=True,
    )


def main():
    """Measures every server in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mercer", default="target/release/mercer")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--wrk", default=shutil.which("wrk") or "wrk")
    args = parser.parse_args()
    rows = table()
    load = os.getloadavg()[0]
    print(f"load average before: {load:.1f} (below 0.3 is quiet)\n")
    print(
        "| server | rows | connections | requests/s | p50 ms | p99 ms | not 200 | socket errors |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = start_mercer(str(Path(args.mercer).resolve()), folder, rows)
        try:
            url = "http://127.0.0.1:8080/v2/models/lr/infer"
            measure(args.wrk, "Mercer", url, v2_body, rows, folder)
            body = v2_body([rows[0][0]])
            show("Mercer", 1, 1000, wrk(args.wrk, url, body, 1000, folder))
            metrics = urllib.request.urlopen("http://127.0.0.1:8080/metrics").read().decode()
        finally:
            stop(server)
        for peer in ("mlserver", "mlflow", "bentoml") if args.peers else ():
            if not (args.peers / peer).is_dir():
                print(f"| {peer}: not installed |")
                continue
            server, url, body_of = start_peer(peer, args.peers, folder, rows)
            try:
                measure(args.wrk, peer, url, body_of, rows, folder)
            finally:
                stop(server)
    errors = re.findall(r'mercer_requests_total\{.*code="5\d\d"\} \d+', metrics)
    print(
        f"\nserver errors of Mercer: {errors or 'none'}; load average after: {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
