"""Imports the generated modules first: their hand-written parts, whose doctests are collected, belong to them."""

import mercer.kernel_approximation
import mercer.linear_model
import mercer.preprocessing
import mercer.svm  # noqa: F401
