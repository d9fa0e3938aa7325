"""Requests made by MLServer's codecs."""

import json
import urllib.request

import numpy as np
import pandas as pd
from mlserver import codecs


def infer(address, model, request):
    body = request.model_dump_json(exclude_none=True).encode()
    url = f"http://{address}/v2/models/{model}/infer"
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        outputs = json.load(response)["outputs"]
    return {output["name"]: output["data"] for output in outputs}


def test_numpy(address):
    request = codecs.NumpyRequestCodec.encode_request(np.array([[5.1, 3.5, 1.4, 0.2]]))
    assert infer(address, "iris", request)["predict"] == ["setosa"]


def test_pandas_with_strings_and_missing_values(address):
    table = pd.DataFrame(
        {
            "island": ["Torgersen", "Biscoe"],
            "bill_length_mm": [39.1, float("nan")],
            "bill_depth_mm": [18.7, 15.0],
            "flipper_length_mm": [181, 220],
            "body_mass_g": [3750, 5000],
            "sex": ["male", "female"],
            "year": [2007, 2008],
        }
    ).astype({"island": object, "sex": object})  # the codec knows no other strings
    request = codecs.PandasCodec.encode_request(table, use_bytes=False)
    assert infer(address, "birds", request)["predict"] == ["Adelie", "Gentoo"]


def test_strings(address):
    request = codecs.StringRequestCodec.encode_request(
        ["Dear winner, earn dollars", "Hello team, the meeting"], use_bytes=False
    )
    assert infer(address, "mail", request)["predict"] == ["spam", "ham"]
