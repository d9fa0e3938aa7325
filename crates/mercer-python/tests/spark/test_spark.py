"""Estimators on Spark: equal to one machine, at home in pipelines, and clear about what they refuse."""

import logging
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator, RegressionEvaluator
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import functions as F

from mercer import discriminant_analysis, linear_model, naive_bayes, svm
from mercer.spark.classification import (
    KernelSVC,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionModel,
    MixedNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from mercer.spark.regression import KernelRidge, LinearRegression, LinearSVR, Ridge
from mercer.spark.tuning import CrossValidator as OnePassCrossValidator


def collected(frame, *names):
    """Columns of a data frame as arrays, in the order of the rows."""
    rows = frame.orderBy("row").select(*names).collect()
    values = [[row[k] for row in rows] for k in range(len(names))]
    return [
        np.array([v.toArray() if hasattr(v, "toArray") else v for v in column]) for column in values
    ]


def test_gaussian_naive_bayes_equals_one_machine(blobs, vectors):
    x, y, w = blobs
    frame = vectors(x, y, w)

    model = NaiveBayes(modelType="gaussian", weightCol="weight").fit(frame)

    laptop = naive_bayes.GaussianNB().fit(x, y, sample_weight=w)
    out = model.transform(frame)
    probability, prediction = collected(out, "probability", "prediction")
    assert np.allclose(probability, laptop.predict_proba(x), rtol=1e-11, atol=1e-12)
    assert np.array_equal(prediction, laptop.predict(x))
    assert np.allclose(model.theta.toArray(), laptop.theta_, rtol=1e-12)
    assert model.certificate["rows"] == len(y) and model.numClasses == 3


def test_multinomial_has_the_priors_of_mllib_and_the_bits_of_one_machine(blobs, vectors):
    from pyspark.ml.classification import NaiveBayes as MllibNaiveBayes

    x, y, w = blobs
    counts = np.rint(np.abs(x)) % 17
    models = [
        NaiveBayes(weightCol="weight", exactSums=True).fit(vectors(counts, y, w, parts))
        for parts in (1, 3, 8)
    ]

    files = [model._fitted.to_bytes() for model in models]
    assert files[0] == files[1] == files[2], "whole numbers have exact sums in any partitioning"
    theirs = MllibNaiveBayes(weightCol="weight").fit(vectors(counts, y, w, 3))
    assert np.allclose(models[0].theta.toArray(), theirs.theta.toArray(), rtol=1e-12)
    assert np.allclose(models[0].pi.toArray(), theirs.pi.toArray(), rtol=1e-12)
    laptop = naive_bayes.MultinomialNB(class_prior=np.exp(theirs.pi.toArray()))
    laptop.fit(counts, y, sample_weight=w)
    assert np.array_equal(laptop.feature_log_prob_, models[0].theta.toArray())


@pytest.mark.parametrize("kind", ["bernoulli", "complement"])
def test_other_naive_bayes(blobs, vectors, kind):
    x, y, _ = blobs
    marks = (x > x.mean(axis=0)).astype(float)

    model = NaiveBayes(modelType=kind).fit(vectors(marks, y))

    laptop = {"bernoulli": naive_bayes.BernoulliNB, "complement": naive_bayes.ComplementNB}[kind]()
    laptop.fit(marks, y)
    (prediction,) = collected(model.transform(vectors(marks, y)), "prediction")
    assert (prediction == laptop.predict(marks)).mean() > 0.99


@pytest.mark.parametrize("standardization", [True, False])
def test_logistic_regression_has_the_optimum_of_mllib(blobs, vectors, standardization, caplog):
    from pyspark.ml.classification import LogisticRegression as Mllib

    x, y, w = blobs
    frame = vectors(x, y, w)
    settings = {"regParam": 0.1, "weightCol": "weight", "standardization": standardization}

    with caplog.at_level(logging.INFO, logger="mercer.spark"):
        model = LogisticRegression(**settings, tol=1e-9).fit(frame)

    theirs = Mllib(**settings, tol=1e-12, maxIter=1000).fit(frame)
    assert model.certificate["status"] == "converged"
    assert model.certificate["duality_gap"] < 1e-6
    ours = model.coefficientMatrix.toArray()
    assert np.allclose(ours, theirs.coefficientMatrix.toArray(), atol=1e-4, rtol=1e-3)
    a, b = (collected(m.transform(frame), "probability")[0] for m in (model, theirs))
    assert np.allclose(a, b, atol=1e-4)
    assert "duality gap" in caplog.text and "round 2" in caplog.text


def test_two_classes_thresholds_and_one_vector(blobs, vectors):
    x, y, _ = blobs
    frame = vectors(x[y < 2], y[y < 2])

    model = LogisticRegression(regParam=0.01, threshold=0.8).fit(frame)

    probability, prediction, raw = collected(
        model.transform(frame), "probability", "prediction", "rawPrediction"
    )
    assert np.array_equal(prediction, (probability[:, 1] > 0.8).astype(float))
    assert np.allclose(raw[:, 1], np.log(probability[:, 1] / probability[:, 0]), atol=1e-9)
    one = Vectors.dense(x[y < 2][0])
    assert np.allclose(model.predictProbability(one).toArray(), probability[0])
    assert model.predict(one) == prediction[0] and model.coefficients.size == 5
    thresholds = model.copy({model.thresholds: [0.999, 0.001]})
    assert collected(thresholds.transform(frame), "prediction")[0].mean() > prediction.mean()


def test_linear_svc_of_several_classes_equals_one_machine(blobs, vectors):
    x, y, _ = blobs
    x = (x - x.mean(axis=0)) / x.std(axis=0)

    model = LinearSVC(regParam=0.01, standardization=False, tol=1e-9).fit(vectors(x, y))

    laptop = svm.LinearSVC(C=1 / (0.01 * len(y)), intercept="unpenalized", tol=1e-9, max_iter=10000)
    laptop.fit(x, y)
    assert np.allclose(model.coefficientMatrix.toArray(), laptop.coef_, atol=1e-6)
    unpenalized = LinearSVC(regParam=0.0).fit(vectors(x, y))
    assert unpenalized.certificate["duality_gap"] is None
    assert unpenalized.certificate["status"] == "converged"


def test_discriminant_analysis_equals_one_machine(blobs, vectors):
    x, y, _ = blobs
    frame = vectors(x, y, parts=5)
    for ours, laptop in (
        (LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis()),
        (QuadraticDiscriminantAnalysis(), discriminant_analysis.QuadraticDiscriminantAnalysis()),
    ):
        (probability,) = collected(ours.fit(frame).transform(frame), "probability")
        assert np.allclose(probability, laptop.fit(x, y).predict_proba(x), atol=1e-10)


@pytest.mark.parametrize(
    "settings", [{}, {"regParam": 0.3}, {"regParam": 0.3, "standardization": False}]
)
def test_linear_regression_equals_mllib_and_one_machine(blobs, vectors, settings):
    from pyspark.ml.regression import LinearRegression as Mllib

    x, _, w = blobs
    y = x @ np.arange(1.0, 6.0) + np.sin(np.arange(len(x)))
    frame = vectors(x, y, w)

    model = LinearRegression(weightCol="weight", **settings).fit(frame)

    theirs = Mllib(weightCol="weight", solver="normal", **settings).fit(frame)
    assert np.allclose(model.coefficients.toArray(), theirs.coefficients.toArray(), rtol=1e-6)
    assert np.isclose(model.intercept, theirs.intercept, rtol=1e-6)
    if not settings:
        laptop = linear_model.LinearRegression().fit(x, y, sample_weight=w)
        assert np.allclose(model.coefficients.toArray(), laptop.coef_, rtol=1e-11)


def test_ridge_svr_and_kernels(blobs, vectors):
    x, _y, _ = blobs
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    target = np.sin(x[:, 0]) + x[:, 1]
    frame = vectors(x, target)

    ridge = Ridge(alpha=3.0).fit(frame)
    assert np.allclose(
        ridge.coefficients.toArray(), linear_model.Ridge(alpha=3.0).fit(x, target).coef_, rtol=1e-11
    )
    svr = LinearSVR(epsilon=0.1, tol=1e-8).fit(frame)
    assert svr.certificate["status"] == "converged"
    kernel = KernelRidge(nComponents=100, alpha=0.1).fit(frame)
    evaluate = RegressionEvaluator(metricName="r2")
    assert evaluate.evaluate(kernel.transform(frame)) > evaluate.evaluate(ridge.transform(frame))

    rings = np.hypot(x[:, 0], x[:, 1]) > 1.1
    frame = vectors(x, rings.astype(float))
    machine = KernelSVC(nComponents=120).fit(frame)
    (prediction,) = collected(machine.transform(frame), "prediction")
    assert (prediction == rings).mean() > 0.93
    assert "error" in machine.featureMap and machine.certificate["status"] == "converged"


MERCER = Path(__file__).parents[4] / "target" / "debug" / "mercer"


def command(folder, *arguments):
    done = subprocess.run([str(MERCER), *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def predicted_by_command(folder, model):
    """The probabilities of `mercer predict`, one column per class."""
    lines = command(folder, "predict", model, "rows.csv", "--proba").splitlines()
    return np.array([[float(cell) for cell in line.split(",")[-2:]] for line in lines[1:]])


@pytest.fixture(scope="module")
def mixed(spark):
    """Numbers, categories, booleans and text, with missing values in every column."""
    rng = np.random.default_rng(5)
    n = 800
    y = rng.random(n) < 0.4
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 5, n) + 8 * y)
    city = [
        None if k % 11 == 0 else ("paris" if v else "rome")
        for k, v in enumerate(rng.random(n) < 0.3 + 0.4 * y)
    ]
    smokes = [None if k % 13 == 0 else bool(v) for k, v in enumerate(rng.random(n) < 0.2 + 0.3 * y)]
    words = ["good fine great", "bad poor awful"]
    note = [
        None
        if k % 17 == 0
        else f"{words[int(v)]} item{k % 90} of lot{k % 70} on shelf{k % 60} today"
        for k, v in enumerate(y ^ (rng.random(n) < 0.2))
    ]
    table = pa.table(
        {
            "row": np.arange(n),
            "age": pa.array(age, from_pandas=True),
            "city": city,
            "smokes": smokes,
            "note": note,
            "y": ["yes" if v else "no" for v in y],
        }
    )
    return (
        spark.createDataFrame(table)
        .repartitionByRange(3, "row")
        .sortWithinPartitions("row")
        .cache()
    )


INPUTS = ["age", "city", "smokes", "note"]


@pytest.mark.parametrize("estimator", [MixedNB, LogisticRegression])
def test_mixed_columns_with_missing_values_give_the_model_of_the_command_line(
    mixed, tmp_path, estimator, spark
):
    settings = {} if estimator is MixedNB else {"regParam": 0.05}
    model = estimator(inputCols=INPUTS, labelCol="y", **settings).fit(mixed)

    rows = mixed.orderBy("row").toPandas()
    prediction, probability = collected(model.transform(mixed), "prediction", "probability")
    assert set(prediction) == {"yes", "no"} and (prediction == rows["y"]).mean() > 0.75
    model.toMercer(tmp_path / "m.mercer")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert np.allclose(predicted_by_command(tmp_path, "m.mercer"), probability, atol=1e-12)
    if estimator is MixedNB:  # The same rows, trained on one machine from a file.
        options = ["--target", "y", "--ignore", "row", "--model", "mixed-nb", "--folds", "1"]
        command(tmp_path, "train", "rows.csv", *options, "--out", "laptop.mercer")
        laptop = predicted_by_command(tmp_path, "laptop.mercer")
        assert np.allclose(laptop, probability, atol=1e-10)
    # Unseen categories, unknown words and missing values are predicted.
    new = spark.createDataFrame(
        [(0, None, "oslo", None, "unheard"), (1, 33.0, None, True, None)],
        "row long, age double, city string, smokes boolean, note string",
    )
    (probability,) = collected(model.transform(new), "probability")
    assert np.allclose(probability.sum(axis=1), 1.0)


def test_mixed_naive_bayes_equals_one_machine(mixed):
    model = MixedNB(inputCols=["age", "city", "smokes"], labelCol="y").fit(mixed)
    rows = mixed.orderBy("row").toPandas()
    rows["smokes"] = rows["smokes"].map({True: "true", False: "false"})
    X = rows[["age", "city", "smokes"]]
    laptop = naive_bayes.MixedNB().fit(X, rows["y"])

    (probability,) = collected(model.transform(mixed), "probability")

    assert np.allclose(probability, laptop.predict_proba(X), atol=1e-10)


def test_pipelines_and_models_are_saved_and_loaded(blobs, vectors, mixed, tmp_path):
    from pyspark.ml.feature import StandardScaler

    x, y, _ = blobs
    frame = vectors(x, y).drop("cells")
    scaler = StandardScaler(inputCol="features", outputCol="scaled", withMean=True)
    pipeline = Pipeline(stages=[scaler, LogisticRegression(featuresCol="scaled", regParam=0.1)])
    model = pipeline.fit(frame)

    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    a, b = (collected(m.transform(frame), "probability")[0] for m in (model, again))
    assert np.array_equal(a, b)
    assert isinstance(again.stages[-1], LogisticRegressionModel)
    assert again.stages[-1].getRegParam() == 0.1
    refitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    assert refitted.stages[-1]._fitted.to_bytes() == model.stages[-1]._fitted.to_bytes()

    text = MixedNB(inputCols=INPUTS, labelCol="y").fit(mixed)
    text.save(str(tmp_path / "text"))
    loaded = type(text).load(str(tmp_path / "text"))
    a, b = (collected(m.transform(mixed), "probability")[0] for m in (text, loaded))
    assert np.array_equal(a, b)


def test_cross_validation_of_pyspark_chooses_among_settings(blobs, vectors, tmp_path, caplog):
    x, y, _ = blobs
    frame = vectors(x, y).drop("cells")
    estimator = LogisticRegression()
    grid = ParamGridBuilder().addGrid(estimator.regParam, [100.0, 0.01]).build()
    evaluator = MulticlassClassificationEvaluator(metricName="logLoss")
    search = CrossValidator(
        estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1
    )

    model = search.fit(frame)

    assert model.avgMetrics[1] < model.avgMetrics[0]
    assert model.bestModel.getRegParam() == 0.01
    model.write().overwrite().save(str(tmp_path / "search"))
    again = CrossValidatorModel.load(str(tmp_path / "search"))
    assert again.bestModel._fitted.to_bytes() == model.bestModel._fitted.to_bytes()


def test_cross_validation_in_one_pass_has_the_metrics_of_pyspark(blobs, vectors):
    x, y, _ = blobs
    counts = np.rint(np.abs(x)) % 13
    frame = vectors(counts, y)
    estimator = NaiveBayes()
    grid = ParamGridBuilder().addGrid(estimator.smoothing, [0.1, 100.0]).build()
    evaluator = MulticlassClassificationEvaluator(metricName="logLoss")
    settings = {
        "estimator": estimator,
        "estimatorParamMaps": grid,
        "evaluator": evaluator,
        "numFolds": 3,
        "seed": 5,
    }

    ours = OnePassCrossValidator(**settings).fit(frame)

    theirs = CrossValidator(**settings).fit(frame)
    assert np.allclose(ours.avgMetrics, theirs.avgMetrics, rtol=1e-10)
    assert ours.bestModel._fitted.to_bytes() == theirs.bestModel._fitted.to_bytes()
    assert ours.bestModel.getSmoothing() == theirs.bestModel.getSmoothing()


def test_settings_that_differ_in_the_penalty_share_one_pass(blobs, vectors, caplog):
    x, _, _ = blobs
    y = x @ np.arange(1.0, 6.0)
    ridge = Ridge()

    with caplog.at_level(logging.INFO, logger="mercer.spark"):
        models = ridge.fit(vectors(x, y), [{ridge.alpha: a} for a in (0.1, 10.0, 1000.0)])

    assert caplog.text.count("statistics of") == 1
    for model, alpha in zip(models, (0.1, 10.0, 1000.0), strict=True):
        laptop = linear_model.Ridge(alpha=alpha).fit(x, y)
        assert np.allclose(model.coefficients.toArray(), laptop.coef_, rtol=1e-10)
        assert model.getOrDefault("alpha") == alpha if model.hasParam("alpha") else True


def test_the_same_partitions_give_the_same_bits(blobs, vectors):
    x, y, _ = blobs
    frame = vectors(x, y, parts=6)

    first, second = (LogisticRegression(regParam=0.1).fit(frame) for _ in range(2))

    assert first._fitted.to_bytes() == second._fitted.to_bytes()


def test_empty_one_class_and_skewed_partitions(blobs, vectors, spark):
    x, y, _ = blobs
    frame = vectors(x, y)
    part = F.when(F.col("row") < 1400, 0).otherwise(F.col("label").cast("int") + 1)
    # Most rows in one partition, the others by class, and many partitions without rows.
    skewed = frame.withColumn("part", part).repartition(20, "part")
    assert skewed.count() == len(y)

    for estimator in (NaiveBayes(modelType="gaussian"), LogisticRegression(regParam=0.1, tol=1e-9)):
        a = estimator.fit(frame).transform(frame)
        b = estimator.fit(skewed).transform(frame)
        a, b = (collected(each, "probability")[0] for each in (a, b))
        assert np.allclose(a, b, atol=1e-8)


def test_sums_of_many_partitions_are_merged_in_groups(blobs, vectors):
    x, y, _ = blobs
    counts = np.rint(np.abs(x)) % 11

    many = NaiveBayes().fit(vectors(counts, y, parts=90))

    assert (
        many._fitted.to_bytes() == NaiveBayes().fit(vectors(counts, y, parts=2))._fitted.to_bytes()
    )


def test_sparse_vectors_and_arrays(spark, vectors, blobs):
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((400, 60)) < 0.05, rng.integers(1, 5, (400, 60)), 0).astype(float)
    y = (dense[:, :30].sum(axis=1) > dense[:, 30:].sum(axis=1)).astype(float)
    rows = [
        (k, Vectors.sparse(60, np.flatnonzero(row), row[row != 0]), float(t))
        for k, (row, t) in enumerate(zip(dense, y, strict=True))
    ]
    frame = spark.createDataFrame(rows, ["row", "features", "label"])
    arrays = vectors(dense, y)

    for estimator in (NaiveBayes(), LogisticRegression(regParam=0.01, tol=1e-8)):
        sparse = estimator.fit(frame)
        assert sparse._columns.sparse
        a = collected(sparse.transform(frame), "probability")[0]
        of_arrays = estimator.copy({estimator.featuresCol: "cells"}).fit(arrays)
        b = collected(of_arrays.transform(arrays), "probability")[0]
        assert np.allclose(a, b, atol=1e-6)


def test_a_time_limit_ends_with_the_best_so_far(blobs, vectors):
    x, y, _ = blobs

    model = LogisticRegression(regParam=1e-9, tol=1e-14, maxIter=10000, timeLimit=0.01).fit(
        vectors(x, y)
    )

    # The first round counts, so that a fit without a model yet goes on to the first evaluation.
    assert model.certificate["status"] == "time-limit" and not model.certificate["converged"]
    assert model.certificate["duality_gap"] > 0


def test_what_is_not_supported_is_refused_by_name(blobs, vectors, spark):
    x, y, _ = blobs
    frame = vectors(x, y)
    with pytest.raises(ValueError, match="elasticNetParam"):
        LogisticRegression(elasticNetParam=0.5).fit(frame)
    with pytest.raises(ValueError, match="elasticNetParam"):
        LinearRegression(elasticNetParam=1.0, regParam=0.1).fit(frame)
    with pytest.raises(ValueError, match="lowerBoundsOnCoefficients"):
        LogisticRegression(lowerBoundsOnCoefficients=None)
    with pytest.raises(TypeError, match="no parameter 'regparam'"):
        LogisticRegression(regparam=0.1)
    with pytest.raises(ValueError, match="huber"):
        LinearRegression(loss="huber").fit(frame)
    with pytest.raises(ValueError, match="probabilities"):
        LinearSVC(probabilityCol="p")
    with pytest.raises(ValueError, match="exactSums=True is not supported by LogisticRegression"):
        LogisticRegression(exactSums=True).fit(frame)
    with pytest.raises(ValueError, match="no column"):
        NaiveBayes(featuresCol="absent").fit(frame)
    with pytest.raises(TypeError, match="inputCols"):
        NaiveBayes(featuresCol="label").fit(frame)
    with pytest.raises(ValueError, match="one class"):
        NaiveBayes().fit(vectors(np.abs(x), np.zeros(len(y))))
    with pytest.raises(ValueError, match="no rows"):
        NaiveBayes().fit(frame.where("row < 0"))
    with pytest.raises(ValueError, match="missing in 1 of"):
        missing = F.when(F.col("row") == 3, None).otherwise(F.col("label"))
        NaiveBayes().fit(frame.withColumn("label", missing))
    with pytest.raises(Exception, match="whole number"):
        NaiveBayes(exactSums=True).fit(vectors(np.abs(x), y))
