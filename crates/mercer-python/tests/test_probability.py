"""Joint distributions, Bayes' rule, conjugate priors and the multivariate normal distribution."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from mercer.probability import (
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


@pytest.fixture
def weather():
    return JointTable(
        {"temp": ["hot", "cold"], "weather": ["sunny", "cloudy", "rainy"]},
        [150, 40, 5, 50, 60, 60],
    )


def test_the_weather_table_has_the_lectures_fractions(weather):
    assert weather.fraction({"temp": "hot"}) == (195, 365)
    assert weather.fraction({"temp": "cold"}) == (170, 365)
    assert weather.fraction({"weather": "sunny"}) == (200, 365)
    assert weather.fraction({"temp": "hot", "weather": "rainy"}) == (5, 365)
    assert weather.probability({"weather": "rainy"}, given={"temp": "hot"}) == 5 / 195
    np.testing.assert_array_equal(weather.marginal("weather").cells, [200, 100, 65])
    np.testing.assert_array_equal(weather.given({"temp": "hot"}).cells, [150, 40, 5])
    assert weather.chain_rule({"temp": "hot", "weather": "rainy"})["steps"][1]["formula"] == (
        "P(weather=rainy | temp=hot)"
    )
    assert weather.free_parameters() == {"cells": 6, "joint": 5, "independent": 3}


def test_conditional_probability_of_a_die():
    die = JointTable({"roll": [1, 2, 3, 4, 5, 6]}, [1] * 6)

    assert die.fraction({"roll": 1}, given={"roll": [1, 3, 5]}) == (1, 3)
    assert die.expectation("roll") == 3.5
    assert die.entropy("roll") == pytest.approx(math.log2(6))


def test_events_are_expressions(weather):
    dice = JointTable({"die1": range(1, 7), "die2": range(1, 7)}, [1] * 36)

    assert weather.fraction("temp=hot or not weather=sunny") == (315, 365)
    assert weather.fraction("not (temp=hot or weather=sunny)") == (120, 365)
    assert weather.probability("weather=rainy", given="temp=hot") == 5 / 195
    assert dice.fraction("die1+die2=2") == (1, 36)
    assert dice.fraction("die1=1 and die2=1") == (1, 36)
    assert dice.fraction("die1=die2") == (6, 36)
    assert dice.fraction({"die1": 1}, given="die1=1|3|5") == (6, 18)
    with pytest.raises(ValueError, match="and, or, not"):
        weather.probability("temp=hot or")
    with pytest.raises(TypeError, match="dictionary"):
        weather.probability(["temp", "hot"])
    with pytest.raises(ValueError, match="numeric values"):
        weather.probability("temp+weather>1")


def test_moments_are_exact_on_request():
    dice = JointTable({"die1": range(1, 7), "die2": range(1, 7)}, [1] * 36)
    high = "die1+die2>=11"

    assert dice.expectation("die1", exact=True) == Fraction(7, 2)
    assert dice.variance("die1", exact=True) == Fraction(35, 12)
    assert dice.covariance("die1", "die2") == 0.0
    # (5, 6), (6, 5), (6, 6)
    assert dice.expectation("die1", high, exact=True) == Fraction(17, 3)
    assert dice.covariance("die1", "die2", high, exact=True) == Fraction(-1, 9)
    assert dice.correlation("die1", "die2", high) == pytest.approx(-0.5)
    assert dice.correlation("die1", "die2", "die1=3") is None
    total = dice.total_expectation("die1", "die2")
    assert sum(
        t["conditional"]["value"] * t["weight"]["value"] for t in total["terms"]
    ) == pytest.approx(3.5)
    rounded = JointTable({"x": [0.5, 1]}, [1, 1])
    with pytest.raises(ValueError, match="integer"):
        rounded.expectation("x", exact=True)


def test_probabilities_need_a_sample_size():
    cells = [
        a * (j if x else 1 - j) * (m if z else 1 - m)
        for a, j, m in [(0.0025, 0.9, 0.7), (0.9975, 0.05, 0.01)]
        for x in (True, False)
        for z in (True, False)
    ]
    names = {"alarm": ["yes", "no"], "john": ["yes", "no"], "mary": ["yes", "no"]}
    house = JointTable(names, cells, kind="probabilities")

    assert not house.independent("john", "mary")
    assert house.independent("john", "mary", ["alarm"])
    assert house.pair_parameters("john", "mary") == {"joint": 3, "independent": 2}
    assert house.pair_parameters("john", "mary", ["alarm"]) == {"joint": 6, "independent": 4}
    with pytest.raises(ValueError, match="sample size"):
        house.test_independence("john", "mary")
    assert house.test_independence("john", "mary", sample_size=80_000)["p_value_g"] < 1e-10
    columns = {name: [] for name in names}
    for k in range(8):
        for (name, values), bit in zip(names.items(), (k >> 2, k >> 1 & 1, k & 1), strict=True):
            columns[name].append(values[bit])
    # A column of weights that are not integers and sum to one holds probabilities.
    with pytest.raises(ValueError, match="sample size"):
        JointTable.from_columns(columns, counts=cells).test_independence("john", "mary")


def test_binomial_and_multinomial_equal_scipy():
    coin, urn = Binomial(10, 0.3), Multinomial([0.5, 0.3, 0.2])

    for k in range(11):
        assert coin.pmf(k) == pytest.approx(stats.binom.pmf(k, 10, 0.3), rel=1e-12)
        assert coin.cdf(k) == pytest.approx(stats.binom.cdf(k, 10, 0.3), rel=1e-12)
    assert (coin.mean, coin.variance) == (3.0, pytest.approx(2.1))
    assert urn.pmf([2, 2, 1]) == pytest.approx(0.135)
    scipy_urn = stats.multinomial(7, [0.5, 0.3, 0.2])
    assert urn.log_pmf([3, 3, 1]) == pytest.approx(scipy_urn.logpmf([3, 3, 1]))
    np.testing.assert_allclose(urn.covariance(7), scipy_urn.cov())
    np.testing.assert_allclose(urn.mean(7), [3.5, 2.1, 1.4])
    # Real counts, by the gamma function.
    gamma = math.gamma(8.5) / math.gamma(3.25) / math.gamma(6.25) * 0.3**2.25 * 0.7**5.25
    assert Binomial(7.5, 0.3).pmf(2.25) == pytest.approx(gamma)
    assert Multinomial([0.3, 0.7]).pmf([2.25, 5.25]) == pytest.approx(gamma)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Binomial(3, 1.5)
    with pytest.raises(ValueError, match=r"0\.9"):
        Multinomial([0.5, 0.4])


def test_bayes_estimates_have_a_median():
    posterior = Beta(1, 1).updated(7, 3)

    assert posterior.median == pytest.approx(stats.beta(8, 4).median())
    assert Beta(1, 1).estimate(7, 3)["median"] == posterior.median
    assert Gamma(2, 1).estimate(4, 2)["median"] == pytest.approx(
        stats.gamma(6, scale=1 / 3).median()
    )
    mean, variance = NormalInverseGamma(0, 1, 3, 2).estimate([])
    assert mean["median"] == 0
    assert variance["median"] == pytest.approx(stats.invgamma(3, scale=2).median())


def test_independence_is_tested_as_scipy_does(weather):
    test = weather.test_independence("temp", "weather")

    expected = stats.chi2_contingency([[150, 40, 5], [50, 60, 60]], correction=False)
    assert test["chi_squared"] == pytest.approx(expected.statistic, rel=1e-12)
    assert test["p_value_chi_squared"] == pytest.approx(expected.pvalue, rel=1e-11)
    assert test["degrees"] == expected.dof
    assert not weather.independent("temp", "weather")
    assert weather.mutual_information("temp", "weather") > 0.2


def test_rows_with_missing_values_are_not_counted():
    columns = {"a": ["x", "y", None, "x"], "b": [True, False, True, None]}

    assert JointTable.from_columns(columns).total == 2
    assert JointTable.from_columns({"a": ["x", "y"]}, counts=[3, 4]).fraction({"a": "y"}) == (4, 7)


def test_invalid_tables_name_the_cell(weather):
    with pytest.raises(ValueError, match=r"a=1.*-2"):
        JointTable({"a": [0, 1]}, [1, -2])
    with pytest.raises(ValueError, match=r"0\.9"):
        JointTable({"a": [0, 1]}, [0.5, 0.4], kind="probabilities")
    with pytest.raises(ValueError, match="`hot`, `cold`"):
        weather.probability({"temp": "warm"})
    with pytest.raises(ValueError, match="`temp`"):
        weather.probability({"heat": "hot"})


def test_bayes_rule_shows_its_steps():
    answer = bayes_rule(1 / 50000, 0.5, evidence=1 / 20)
    several = bayes_rule({"red": 1 / 3, "blue": 2 / 3}, {"red": 0.9, "blue": 0.2})

    assert answer["hypotheses"][0]["posterior"] == pytest.approx(0.0002, rel=1e-14)
    assert several["evidence"] == pytest.approx(0.3 + 0.4 / 3)
    assert bayes_rule(0.01, 0.9, against=0.05)["hypotheses"][0]["posterior"] == pytest.approx(
        0.009 / 0.0585
    )
    with pytest.raises(ValueError, match="either"):
        bayes_rule(0.5, 0.5)
    with pytest.raises(ValueError, match="blue"):
        bayes_rule({"red": 0.5, "blue": 0.5}, {"red": 0.9})


def test_posterior_after_ten_observations():
    names, fractions = ["h1", "h2", "h3", "h4", "h5"], [0, 0.25, 0.5, 0.75, 1]
    priors = dict(zip(names, [0.1, 0.2, 0.4, 0.2, 0.1], strict=True))
    belief = Belief(priors, {"lime": dict(zip(names, fractions, strict=True))})

    first = belief.observe("lime")
    lines = [belief.observe("lime") for _ in range(9)]

    assert list(first["posterior"].values()) == pytest.approx([0, 0.1, 0.4, 0.3, 0.2])
    assert first["predictive"]["lime"] == pytest.approx(0.65)
    assert lines[-1]["posterior"]["h5"] == pytest.approx(0.8956, abs=5e-5)
    assert lines[-1]["predictive"]["lime"] == pytest.approx(0.9730, abs=5e-5)
    with pytest.raises(ValueError, match="cherry"):
        belief.observe("cherry")
    with pytest.raises(ValueError, match="probability 0"):
        belief.weigh("nothing", dict.fromkeys(names, 0.0))
    with pytest.raises(ValueError, match="h9"):
        belief.weigh("strange", {"h9": 1.0})


def test_conjugate_priors_equal_scipy():
    beta = Beta(2, 3).updated(7, 4)
    gamma = Gamma(2, 1).updated(9, 4)
    both = NormalInverseGamma(0, 1, 1, 1).updated([1.5, 2.5, 0.25, 4])
    mean, kappa, alpha, scale = both.parameters

    assert beta.interval(0.9) == pytest.approx(stats.beta(9, 7).interval(0.9), rel=1e-10)
    assert gamma.interval() == pytest.approx(stats.gamma(11, scale=1 / 5).interval(0.95), rel=1e-10)
    expected = stats.t(2 * alpha, mean, math.sqrt(scale / alpha / kappa)).interval(0.95)
    assert both.mean_interval() == pytest.approx(expected, rel=1e-10)
    assert both.variance_interval() == pytest.approx(
        stats.invgamma(alpha, scale=scale).interval(0.95), rel=1e-10
    )
    assert beta.log_predictive(2, 5) == pytest.approx(stats.betabinom(5, 9, 7).logpmf(2))
    # Laplace's rule is the posterior mean under a Dirichlet prior of ones.
    laplace = Dirichlet([1, 1, 1]).updated([3, 4, 5]).mean
    np.testing.assert_allclose(laplace, [4 / 15, 5 / 15, 6 / 15])
    assert Dirichlet([1, 1]).estimate([3, 1])[0]["maximum_likelihood"] == 0.75
    assert NormalMean(10, 4, 2).updated([12, 14]).mean == pytest.approx(12.4)
    assert Beta().estimate(0, 0)["maximum_likelihood"] is None
    with pytest.raises(ValueError, match="alpha"):
        Beta(0, 1)


def test_multivariate_normal_equals_scipy(rng):
    A = rng.normal(size=(3, 3))
    covariance, mean = A @ A.T + np.eye(3), rng.normal(size=3)
    x = rng.normal(size=3)
    normal = MultivariateNormal(mean, covariance, ["a", "b", "c"])

    expected = stats.multivariate_normal(mean, covariance).logpdf(x)
    assert normal.log_density(x) == pytest.approx(expected, rel=1e-12)
    known = normal.given({"b": x[1]})
    assert known.names == ["a", "c"]
    slope = covariance[[0, 2], 1] / covariance[1, 1]
    np.testing.assert_allclose(known.mean, mean[[0, 2]] + slope * (x[1] - mean[1]), rtol=1e-12)
    rows = normal.sample(50, seed=3)
    fitted = MultivariateNormal.fit(rows, unbiased=True)
    np.testing.assert_allclose(fitted.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(fitted.covariance, np.cov(rows.T), rtol=1e-11)
    with pytest.raises(ValueError, match="positive definite"):
        MultivariateNormal([0, 0], [[1, 1], [1, 1]])
