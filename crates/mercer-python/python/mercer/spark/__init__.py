"""Mercer on Spark: estimators for pyspark.ml whose sums merge over the partitions of a data frame.

.. code-block:: python

    from mercer.spark.classification import LogisticRegression, MixedNB, NaiveBayes
    from mercer.spark.regression import LinearRegression

Executors need this package and nothing else; no jars. Works with PySpark 4.1 and later, with Spark Connect as well.
"""

try:
    import pyarrow as _pyarrow  # noqa: F401
    from pyspark.sql.functions import ArrowUDFType as _ArrowUDFType  # noqa: F401
except ImportError as _error:
    raise ImportError(
        "mercer.spark needs PySpark 4.1 or later with pyarrow: pip install 'pyspark>=4.1' pyarrow"
    ) from _error
