"""Text vectorizers with the parameters, vocabularies and matrices of scikit-learn.

The column indices of a row are sorted, so that ``fit_transform`` and ``transform`` give the same bits. A
callable preprocessor, tokenizer or analyzer, or a token pattern other than runs of word characters, runs
in Python; everything else is compiled, reads Python's strings without a copy and uses all threads.
"""

from .count import CountVectorizer
from .hashing import HashingVectorizer
from .tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
