"""Discrete joint distributions, Bayes' rule, binomial and multinomial
distributions, conjugate priors and the multivariate normal.

>>> from mercer.probability import bayes_rule
>>> answer = bayes_rule(1 / 50000, 0.5, evidence=1 / 20)
>>> round(answer["hypotheses"][0]["posterior"], 10)
0.0002
"""

from ._mercer import (
    Belief,
    Beta,
    Binomial,
    Dirichlet,
    Gamma,
    JointTable,
    Multinomial,
    MultivariateNormal,
    NormalInverseGamma,
    NormalMean,
    bayes_rule,
)

__all__ = [
    "Belief",
    "Beta",
    "Binomial",
    "Dirichlet",
    "Gamma",
    "JointTable",
    "Multinomial",
    "MultivariateNormal",
    "NormalInverseGamma",
    "NormalMean",
    "bayes_rule",
]
