"""Ten thousand columns."""

import numpy as np
from pyspark.ml.linalg import Vectors

from mercer import naive_bayes
from mercer.spark.classification import LogisticRegression, NaiveBayes

WIDTH = 10_000


def test_ten_thousand_columns(spark):
    rng = np.random.default_rng(4)
    rows, dense = [], np.zeros((1200, WIDTH))
    for k in range(1200):
        y = k % 2
        indices = np.unique(rng.integers(0, WIDTH // 2, 40) + y * rng.integers(0, 2) * WIDTH // 2)
        values = rng.integers(1, 4, len(indices)).astype(float)
        dense[k, indices] = values
        rows.append((k, Vectors.sparse(WIDTH, indices, values), float(y)))
    frame = spark.createDataFrame(rows, ["row", "features", "label"]).repartition(6).cache()

    model = NaiveBayes().fit(frame)
    y = np.arange(1200) % 2
    laptop = naive_bayes.MultinomialNB(class_prior=[0.5, 0.5]).fit(dense, y)
    assert np.array_equal(model.theta.toArray(), laptop.feature_log_prob_)

    logistic = LogisticRegression(regParam=0.01, tol=1e-7).fit(frame)
    assert logistic.certificate["status"] == "converged"
    assert logistic.coefficients.size == WIDTH
    assert logistic.transform(frame).where("prediction = label").count() > 700
