"""Writes reference values of contingency tables and conjugate priors, computed by scipy.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scipy==1.17.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_probability.py
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent


def independence(strata):
    """The independence tests of a two-way table, or of several strata."""
    counts = np.asarray(strata, float)
    parts = counts[None] if counts.ndim == 2 else counts
    answer = {"counts": counts.tolist()}
    for name, power in [("chi_squared", "pearson"), ("g", "log-likelihood")]:
        tests = [stats.chi2_contingency(part, correction=False, lambda_=power) for part in parts]
        statistic, degrees = sum(t.statistic for t in tests), sum(t.dof for t in tests)
        answer[name] = float(statistic)
        answer["degrees"] = int(degrees)
        answer[f"p_value_{name}"] = float(stats.chi2.sf(statistic, degrees))
    return answer


def interval(distribution, level):
    return list(map(float, distribution.interval(level)))


def beta(alpha, beta, successes, failures, level):
    posterior = stats.beta(alpha + successes, beta + failures)
    predictive = stats.betabinom(9, alpha + successes, beta + failures)
    return {
        "prior": [alpha, beta],
        "data": [successes, failures],
        "level": level,
        "mean": float(posterior.mean()),
        "variance": float(posterior.var()),
        "interval": interval(posterior, level),
        "ln_predictive": [float(predictive.logpmf(k)) for k in range(10)],
    }


def gamma(shape, rate, events, time, level):
    posterior = stats.gamma(shape + events, scale=1 / (rate + time))
    predictive = stats.nbinom(shape + events, (rate + time) / (rate + time + 1))
    return {
        "prior": [shape, rate],
        "data": [events, time],
        "level": level,
        "mean": float(posterior.mean()),
        "interval": interval(posterior, level),
        "ln_predictive": [float(predictive.logpmf(k)) for k in range(10)],
    }


def normal(mean, kappa, alpha, beta, values, level):
    x = np.asarray(values, float)
    n, average, squares = len(x), x.mean(), ((x - x.mean()) ** 2).sum()
    k = kappa + n
    m = (kappa * mean + n * average) / k
    a = alpha + n / 2
    b = beta + squares / 2 + kappa * n * (average - mean) ** 2 / (2 * k)
    predictive = stats.t(2 * a, m, np.sqrt(b / a * (1 + 1 / k)))
    at = [m - 2.0, m, m + 5.0]
    return {
        "prior": [mean, kappa, alpha, beta],
        "values": values,
        "level": level,
        "mean_interval": interval(stats.t(2 * a, m, np.sqrt(b / a / k)), level),
        "variance_interval": interval(stats.invgamma(a, scale=b), level),
        "predictive_interval": interval(predictive, level),
        "at": at,
        "ln_predictive": [float(predictive.logpdf(x)) for x in at],
    }


golden = {
    "source": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "independence": [
        independence([[150, 40, 5], [50, 60, 60]]),
        independence([[12, 5], [7, 9]]),
        independence([[[10, 4], [3, 8]], [[6, 6], [5, 7]], [[40, 2], [1, 30]]]),
    ],
    "beta": [beta(1, 1, 7, 3, 0.95), beta(0.5, 0.5, 0, 12, 0.9), beta(2, 30, 400, 9000, 0.99)],
    "gamma": [
        gamma(2, 1, 9, 4, 0.95),
        gamma(0.5, 0.01, 0, 3, 0.9),
        gamma(100, 20, 7000, 900, 0.99),
    ],
    "normal": [
        normal(0, 1, 1, 1, [1.5, 2.5, 0.25, 4], 0.95),
        normal(110, 0.1, 0.5, 100, [125, 100, 70, 120, 60, 220, 75], 0.9),
    ],
}
text = json.dumps(golden, separators=(",", ":")).replace(',{"', ',\n{"')
(HERE / "probability.json").write_text(text + "\n")
