"""KServe's REST client, versions 1 and 2 of the protocol."""

import asyncio

import numpy as np
import pytest
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig

ROWS = [[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]]


def run(call):
    return asyncio.run(call)


@pytest.mark.parametrize("binary", [False, True])
def test_v2(address, binary):
    async def infer():
        client = InferenceRESTClient(RESTConfig(protocol="v2"))
        base = f"http://{address}"
        assert await client.is_server_live(base)
        assert await client.is_server_ready(base)
        assert await client.is_model_ready(base, "iris")
        tensor = InferInput("x", [2, 4], "FP64")
        tensor.set_data_from_numpy(np.array(ROWS), binary_data=binary)
        request = InferRequest(model_name="iris", infer_inputs=[tensor])
        return await client.infer(base, request, model_name="iris")

    response = run(infer())
    outputs = {output.name: output for output in response.outputs}
    assert list(outputs["predict"].data) == ["setosa", "virginica"]
    assert list(outputs["predict_proba"].shape) == [2, 3]


def test_v1_predict_and_explain(address):
    async def call():
        client = InferenceRESTClient(RESTConfig(protocol="v1"))
        base = f"http://{address}"
        predicted = await client.infer(base, {"instances": ROWS}, model_name="iris")
        explained = await client.explain(base, model_name="iris", data={"instances": ROWS[:1]})
        return predicted, explained

    predicted, explained = run(call())
    assert predicted["predictions"] == ["setosa", "virginica"]
    assert explained["explanations"][0]["winner"] == 0
