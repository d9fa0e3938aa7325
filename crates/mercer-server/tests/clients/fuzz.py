"""Sends requests made by schemathesis from an OpenAPI description and fails on any server error.

    python fuzz.py                          # our own description, /openapi.json
    python fuzz.py open_inference_rest.yaml # the official description of the Open Inference Protocol

Also checks /metrics with promtool, if it is installed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from conftest import DATA, MERCER


def main():
    """Starts a server, runs schemathesis and promtool, and prints what they found."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "iris.mercer"
        table = str(DATA / "iris.csv")
        command = [MERCER, "train", table, "--target", "species", "--model", "logistic", "-q"]
        subprocess.run([*command, "--out", str(model)], check=True, cwd=folder)
        server = subprocess.Popen(
            [MERCER, "serve", str(model), "--listen", "127.0.0.1:0", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            lines = ""
            while "}\n}" not in lines:
                lines += server.stdout.readline()
            base = f"http://{json.loads(lines)['address']}"
            failed = run(base, Path(folder), sys.argv[1] if len(sys.argv) > 1 else None)
        finally:
            server.terminate()
            status = server.wait(timeout=20)
    sys.exit(1 if failed or status != 0 else 0)


def run(base, folder, official):
    """Whether schemathesis or promtool found a fault."""
    if official is None:
        schema = f"{base}/openapi.json"
    else:
        # The official paths are written ${MODEL_NAME}, which is not OpenAPI.
        text = Path(official).read_text().replace("${", "{")
        schema = folder / "official.yaml"
        schema.write_text(text)
    schemathesis = Path(sys.executable).with_name("schemathesis")
    checks = ["--checks", "not_a_server_error", "--max-examples", os.environ.get("EXAMPLES", "50")]
    command = [str(schemathesis), "run", str(schema), "--url", base, *checks, "--no-color"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout[-3000:], done.stderr[-2000:])
    metrics = urllib.request.urlopen(f"{base}/metrics").read().decode()
    server_errors = re.findall(r'mercer_requests_total\{.*code="5\d\d"\} \d+', metrics)
    print("server errors:", server_errors or "none")
    n_requests = sum(map(float, re.findall(r"^mercer_requests_total\{.*\} (\S+)", metrics, re.M)))
    print(f"{n_requests:.0f} requests were answered")
    failed = bool(server_errors) or "mercer_panics_total 0" not in metrics or n_requests < 100
    promtool = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if promtool is None:
        print("promtool is not installed (Debian package prometheus); /metrics was not checked")
        return failed
    checked = subprocess.run([promtool, "check", "metrics"], input=metrics, text=True, check=False)
    print(f"promtool check metrics: exit {checked.returncode}")
    return failed or checked.returncode != 0


if __name__ == "__main__":
    main()
