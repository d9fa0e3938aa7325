"""Executors in processes of their own (`local-cluster[2,1,1024]`), and one that is lost in a round."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent(
    """
    import os, signal, sys, threading, time
    import numpy as np
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession, functions as F
    from mercer.spark.classification import LogisticRegression, NaiveBayes

    import mercer.spark.passes as passes

    master, kill = sys.argv[1], sys.argv[2] == "kill"
    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "1g")
        # Otherwise the number of cores decides how files are divided into partitions.
        .config("spark.sql.files.minPartitionNum", "8")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.executorEnv.PYSPARK_PYTHON", os.environ["PYSPARK_PYTHON"])
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    cells = F.array(*[F.randn(seed=j) + F.col("id") % 2 * (j % 3) for j in range(8)])
    frame = spark.range(0, 60000, 1, 8).withColumn("features", array_to_vector(cells))
    frame = frame.withColumn("label", (F.col("id") % 2).cast("double"))
    frame.write.mode("overwrite").parquet(sys.argv[3])
    frame = spark.read.parquet(sys.argv[3])

    def executor_ids():
        return {row[0] for row in frame.select("label").mapInArrow(pids, "pid long").collect()}

    def pids(batches):
        import os
        import pyarrow as pa
        for _ in batches:
            pass
        # The parent of the Python daemon is the executor.
        daemon = os.getppid()
        parent = int(open(f"/proc/{daemon}/stat").read().rsplit(")", 1)[1].split()[1])
        yield pa.RecordBatch.from_pydict({"pid": [parent]})

    estimator = LogisticRegression(regParam=0.01, tol=1e-9)
    before = estimator.fit(frame)
    if kill:
        found = sorted(executor_ids())
        assert len(found) == 2, found
        rounds, killed = passes.report, []

        def report(n_rounds, *rest):
            if n_rounds == 2 and not killed:
                killed.append(found[0])
                os.kill(found[0], signal.SIGKILL)
            rounds(n_rounds, *rest)

        passes.report = report
        after = estimator.fit(frame)
        assert killed, "no executor was killed"
    else:
        after = estimator.fit(frame)
    assert before._fitted.to_bytes() == after._fitted.to_bytes()
    naive = NaiveBayes(modelType="gaussian").fit(frame)
    correct = naive.transform(frame).where("prediction = label").count()
    assert correct > 0.8 * 60000, correct
    print("SAME BITS", before.certificate["status"], before.certificate["rows"])
    print("FINGERPRINT", __import__("hashlib").sha256(before._fitted.to_bytes()).hexdigest())
    spark.stop()
    """
)


def run_script(tmp_path, master, mode):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(path), master, mode, str(tmp_path / "rows.parquet")],
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("mode", ["keep", "kill"])
def test_executors_and_the_loss_of_one_do_not_change_the_bits(tmp_path, mode):
    out = run_script(tmp_path, "local-cluster[2,1,1024]", mode)

    assert "SAME BITS converged 60000" in out


def test_the_number_of_executors_does_not_change_the_bits(tmp_path):
    prints = {
        run_script(tmp_path, master, "keep").split("FINGERPRINT")[1].split()[0]
        for master in ("local[1]", "local[2]")
    }

    assert len(prints) == 1


def kill_group(process):
    """Ends a process that was started in a group of its own."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGKILL)
