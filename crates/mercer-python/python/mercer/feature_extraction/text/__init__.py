"""From texts to counts of words and their weights, with scikit-learn's names and numbers.

Vocabularies and matrices are those of scikit-learn; columns are in order within a row, so that
``fit_transform`` and ``transform`` give the same bits. A preprocessor, tokenizer or analyzer of your
own, or a token pattern other than runs of word characters, is Python code and runs as such; all else
is compiled, takes texts where Python keeps them and uses all threads.
"""

from .count import CountVectorizer
from .hashing import HashingVectorizer
from .tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
