"""MLflow's scoring client, and the bodies that MLflow documents."""

import json
import urllib.request

import pandas as pd
from mlflow.pyfunc.scoring_server import client

TABLE = pd.DataFrame(
    [[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]],
    columns=["sepal_length", "sepal_width", "petal_length", "petal_width"],
)
EXPECTED = ["setosa", "virginica"]


def invocations(address, body, content_type="application/json"):
    url = f"http://{address}/invocations?model=iris"
    request = urllib.request.Request(url, body.encode(), {"Content-Type": content_type})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["predictions"]


def test_probes(address):
    host, port = address.split(":")
    scoring = client.ScoringServerClient(host, int(port))
    scoring.ping()  # raises unless the server answers
    assert scoring.get_version()


def test_every_orientation(address):
    split = TABLE.to_dict(orient="split")
    bodies = [
        {"dataframe_split": split},
        {"dataframe_records": TABLE.to_dict(orient="records")},
        {"instances": TABLE.to_numpy().tolist()},
        {"inputs": TABLE.to_numpy().tolist()},
        {"inputs": TABLE.to_dict(orient="list")},
    ]
    for body in bodies:
        assert invocations(address, json.dumps(body)) == EXPECTED
    assert invocations(address, TABLE.to_csv(index=False), "text/csv") == EXPECTED
