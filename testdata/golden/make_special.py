"""Writes reference values of the special functions, computed by scipy.

Run from the root of the repository, in any environment with the versions below:

    python -m venv golden && golden/bin/pip install scipy==1.17.1 numpy==2.4.6
    golden/bin/python testdata/golden/make_special.py

Each case is [arguments, value]. Arguments are chosen where the functions are hard to compute: tails, small
and large parameters, points near the boundaries. Gamma shapes end at 5000: in the tails of larger ones scipy
itself is accurate to nine digits only.
"""

import itertools
import json
import pathlib

import numpy as np
import scipy
from scipy import special, stats

HERE = pathlib.Path(__file__).parent

SHARES = [1e-12, 1e-6, 0.001, 0.025, 0.05, 0.3, 0.5, 0.7, 0.95, 0.975, 0.999]


def cases(function, *arguments):
    for some in itertools.product(*arguments):
        value = float(function(*some))
        if np.isfinite(value) and value > -np.inf:
            yield [list(map(float, some)), value]


SHAPES = [0.1, 0.5, 1, 1.5, 2, 7.3, 30, 200, 5000]
AROUND = [0.01, 0.3, 0.8, 0.99, 1, 1.02, 1.3, 2, 5]
DEGREES = [1, 2, 3, 5, 10, 40, 1000, 1e6]

golden = {
    "source": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "ln_gamma": list(cases(special.gammaln, [1e-8, 0.1, 0.5, 1, 1.5, 3.7, 12, 55.5, 1e4, 1e9])),
    # Arguments: shape, x.
    "gamma_lower": [
        [[a, a * r], float(special.gammainc(a, a * r))] for a in SHAPES for r in AROUND
    ],
    "gamma_upper": [
        [[a, a * r], float(special.gammaincc(a, a * r))] for a in SHAPES for r in AROUND
    ],
    # Arguments: x, degrees of freedom.
    "chi_squared_sf": list(
        cases(stats.chi2.sf, [0.001, 0.1, 1, 3.84, 10, 50, 300], [1, 2, 3, 4, 9, 30, 200])
    ),
    # Arguments: a, b, x.
    "beta_lower": list(
        cases(
            special.betainc,
            [0.3, 1, 2, 8.5, 100, 3000],
            [0.5, 1, 3, 40, 2000],
            [0.001, 0.1, 0.5, 0.9, 0.999],
        )
    ),
    # Arguments: lower tail probability, shape.
    "gamma_quantile": list(cases(stats.gamma.ppf, SHARES, [0.3, 0.5, 1, 2.5, 10, 77, 4000])),
    # Arguments: a, b, lower tail probability.
    "beta_quantile": list(
        cases(special.betaincinv, [0.5, 1, 2, 8.5, 100, 3000], [0.5, 1, 3, 40, 2000], SHARES)
    ),
    "normal_quantile": list(cases(stats.norm.ppf, SHARES)),
    "normal_lower": list(cases(stats.norm.cdf, [-30, -8, -3, -1, -0.1, 0, 0.5, 2, 4])),
    # Arguments: degrees of freedom, lower tail probability.
    "student_quantile": list(cases(special.stdtrit, DEGREES, SHARES)),
    # Arguments: degrees of freedom, t.
    "student_lower": list(cases(special.stdtr, DEGREES, [-50, -5, -2, -0.3, 0.001, 1, 3, 8])),
    # Arguments: k, n, p.
    "binomial_pmf": list(
        cases(stats.binom.pmf, [0, 1, 5, 10], [10, 40, 1000], [0.01, 0.3, 0.5, 0.97])
    ),
    # Arguments: k, expected.
    "poisson_pmf": list(cases(stats.poisson.pmf, [0, 1, 4, 30, 200], [0.1, 1, 4.5, 30, 250])),
}
text = json.dumps(golden, separators=(",", ":")).replace(',"', ',\n"')
(HERE / "special.json").write_text(text + "\n")
