"""NVIDIA's tritonclient, which sends binary tensors unless told otherwise."""

import asyncio

import numpy as np
import pytest
import tritonclient.http as triton
import tritonclient.http.aio as aio

ROWS = np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]])


@pytest.fixture
def client(address):
    with triton.InferenceServerClient(address) as client:
        yield client


def matrix(datatype="FP64", binary=True):
    numbers = ROWS.astype({"FP64": np.float64, "FP32": np.float32, "FP16": np.float16}[datatype])
    tensor = triton.InferInput("x", list(numbers.shape), datatype)
    tensor.set_data_from_numpy(numbers, binary_data=binary)
    return tensor


def test_health_and_metadata(client):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("iris")
    assert not client.is_model_ready("none")
    assert client.get_server_metadata()["name"] == "mercer"
    about = client.get_model_metadata("iris")
    assert about["inputs"][0]["name"] == "sepal_length"
    assert client.is_model_ready("iris", about["versions"][0])
    assert client.get_model_config("iris")["name"] == "iris"
    assert client.get_inference_statistics("iris")["model_stats"][0]["name"] == "iris"
    assert {m["name"] for m in client.get_model_repository_index()} >= {"iris", "birds"}


# tritonclient sends FP16 as binary data only.
@pytest.mark.parametrize(
    ("datatype", "binary"),
    [("FP64", True), ("FP64", False), ("FP32", True), ("FP32", False), ("FP16", True)],
)
def test_infer(client, datatype, binary):
    result = client.infer("iris", [matrix(datatype, binary)])

    assert list(result.as_numpy("predict")) in ([b"setosa", b"virginica"], ["setosa", "virginica"])
    proba = result.as_numpy("predict_proba")
    assert proba.shape == (2, 3)
    assert np.allclose(proba.sum(axis=1), 1)
    assert list(proba.argmax(axis=1)) == [0, 2]


def test_binary_and_json_have_the_same_bits(client):
    outputs = [
        triton.InferRequestedOutput("predict_proba", binary_data=binary) for binary in (True, False)
    ]
    results = [client.infer("iris", [matrix()], outputs=[output]) for output in outputs]
    binary, text = (result.as_numpy("predict_proba") for result in results)
    assert (binary == text).all()


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compression(client, algorithm):
    result = client.infer(
        "iris",
        [matrix()],
        request_compression_algorithm=algorithm,
        response_compression_algorithm=algorithm,
    )
    assert result.as_numpy("predict_proba").shape == (2, 3)


def test_columns_strings_and_classification(client):
    columns = {
        "island": np.array(["Biscoe"], dtype=object),
        "bill_length_mm": np.array([50.0]),
        "bill_depth_mm": np.array([15.0]),
        "flipper_length_mm": np.array([220.0]),
        "body_mass_g": np.array([np.nan]),
        "sex": np.array(["male"], dtype=object),
        "year": np.array([2008], dtype=np.int64),
    }
    inputs = []
    for name, values in columns.items():
        datatype = {"O": "BYTES", "f": "FP64", "i": "INT64"}[values.dtype.kind]
        tensor = triton.InferInput(name, [1], datatype)
        tensor.set_data_from_numpy(values)
        inputs.append(tensor)
    output = triton.InferRequestedOutput("predict_proba", class_count=1)

    result = client.infer("birds", inputs, outputs=[output])

    assert result.as_numpy("predict_proba")[0][0].decode().endswith(":2:Gentoo")


def test_text(client):
    tensor = triton.InferInput("text", [1], "BYTES")
    tensor.set_data_from_numpy(np.array(["Dear winner, earn dollars"], dtype=object))
    assert client.infer("mail", [tensor]).as_numpy("predict")[0] == b"spam"


def test_errors_are_readable(client):
    tensor = triton.InferInput("x", [1, 3], "FP64")
    tensor.set_data_from_numpy(np.zeros((1, 3)))
    with pytest.raises(triton.InferenceServerException, match="the model has 4 columns"):
        client.infer("iris", [tensor])


def test_asynchronous_client(address):
    async def infer():
        async with aio.InferenceServerClient(address) as client:
            results = await asyncio.gather(*(client.infer("iris", [matrix()]) for _ in range(50)))
            return [result.as_numpy("predict_proba") for result in results]

    results = asyncio.run(infer())
    assert all((result == results[0]).all() for result in results)
