"""The base class of the vectorizers: decoding, preprocessing, tokenizing and n-grams.

The analyzer is compiled if all its steps are; otherwise all of it runs in Python.
"""

import json
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils._param_validation import StrOptions

from ... import _mercer

#: scikit-learn's default token pattern: words of at least two letters, digits or underscores.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"

#: Token patterns that match runs of word characters of a minimum length.
_RUNS = re.compile(r"(?:\(\?u\))?(?:\\b)?(?P<more>(?:\\w)*)\\w\+(?:\\b)?")

ANALYZER_CONSTRAINTS = {
    "input": [StrOptions({"filename", "file", "content"})],
    "encoding": [str],
    "decode_error": [StrOptions({"strict", "ignore", "replace"})],
    "strip_accents": [StrOptions({"ascii", "unicode"}), None, callable],
    "lowercase": ["boolean"],
    "preprocessor": [callable, None],
    "tokenizer": [callable, StrOptions({"unicode"}), None],
    "stop_words": [StrOptions({"english"}), list, None],
    "token_pattern": [str, None],
    "ngram_range": [tuple],
    "analyzer": [StrOptions({"word", "char", "char_wb"}), callable],
    "stem": [str, None],
}


def _strip_accents_unicode(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _strip_accents_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ASCII", "ignore").decode("ASCII")


class _Preprocess:
    """Lower-casing, then stripping of accents; a class because closures cannot be pickled."""

    def __init__(self, lowercase: bool, strip: Callable[[str], str] | None) -> None:
        self.lowercase = lowercase
        self.strip = strip

    def __call__(self, text: str) -> str:
        if self.lowercase:
            text = text.lower()
        return text if self.strip is None else self.strip(text)


class _Analyze:
    """The composition of the steps from a document to its terms."""

    def __init__(self, *steps: Callable[[Any], Any]) -> None:
        self.steps = steps

    def __call__(self, document: Any) -> Any:
        for step in self.steps:
            document = step(document)
        return document


class Vectorizer(TransformerMixin, BaseEstimator):
    """The analyzer of the vectorizers: from documents to terms."""

    def decode(self, doc: Any) -> str:
        """The string of a document, which is read from a file and decoded according to ``input``."""
        if self.input == "filename":
            with open(doc, "rb") as file:
                doc = file.read()
        elif self.input == "file":
            doc = doc.read()
        if isinstance(doc, bytes):
            doc = doc.decode(self.encoding, self.decode_error)
        if doc is np.nan:
            raise ValueError("np.nan is an invalid document, expected byte or unicode string.")
        return doc

    def build_preprocessor(self) -> Callable[[str], str]:
        """The function that is applied to the string before tokenizing."""
        if self.preprocessor is not None:
            return self.preprocessor
        known = {"ascii": _strip_accents_ascii, "unicode": _strip_accents_unicode}
        strip = self.strip_accents
        if not strip:
            return _Preprocess(self.lowercase, None)
        if not callable(strip) and strip not in known:
            raise ValueError(f'Invalid value for "strip_accents": {strip}')
        return _Preprocess(self.lowercase, strip if callable(strip) else known[strip])

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """The function that splits a string into tokens."""
        if self.tokenizer == "unicode":
            options = _analyzer_options(unit="unicode-words", case="keep")
            return _mercer.Analyzer(json.dumps(options))
        if self.tokenizer is not None:
            return self.tokenizer
        pattern = re.compile(self.token_pattern)
        if pattern.groups > 1:
            raise ValueError(
                "More than 1 capturing group in token pattern. Only a single group should be captured."
            )
        return pattern.findall

    def get_stop_words(self) -> frozenset[str] | None:
        """The set of stop words, or ``None``."""
        if self.stop_words == "english":
            return ENGLISH_STOP_WORDS
        if isinstance(self.stop_words, str):
            raise ValueError(f"not a built-in stop list: {self.stop_words}")
        return None if self.stop_words is None else frozenset(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], list[Any]]:
        """The function from a document to its terms: decoding, preprocessing, tokenizing, n-grams."""
        compiled = self._compiled_analyzer()
        if compiled is not None:
            analyzer, preprocess = compiled
            steps = [self.decode] if preprocess is None else [self.decode, preprocess]
            return _Analyze(*steps, _mercer.Analyzer(analyzer))
        if callable(self.analyzer):
            return _Analyze(self.decode, self.analyzer)
        preprocess, tokenize = self.build_preprocessor(), self.build_tokenizer()
        self._check_stop_words_consistency(self.get_stop_words(), preprocess, tokenize)
        return _Analyze(self.decode, preprocess, tokenize, self._word_ngrams)

    def _word_ngrams(self, tokens: Iterable[Any]) -> list[Any]:
        """The n-grams of the tokens without stop words."""
        stop_words = self.get_stop_words()
        words = list(tokens) if stop_words is None else [w for w in tokens if w not in stop_words]
        low, high = self.ngram_range
        if (low, high) == (1, 1):
            return words
        terms = list(words) if low == 1 else []
        for n in range(max(low, 2), min(high, len(words)) + 1):
            terms.extend(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
        return terms

    def _compiled_analyzer(self) -> tuple[str, Callable[[str], str] | None] | None:
        """The options of the compiled analyzer as JSON, and the Python function to apply before it;
        ``None`` if the analyzer must run in Python."""
        in_python = callable(self.analyzer) or (
            self.analyzer == "word" and callable(self.tokenizer)
        )
        unit: Any = {"char": "characters", "char_wb": "characters-in-words"}.get(
            self.analyzer if isinstance(self.analyzer, str) else ""
        )
        if not in_python and self.analyzer == "word":
            runs = _RUNS.fullmatch(self.token_pattern or "")
            if self.tokenizer == "unicode":
                unit = "unicode-words"
            elif runs:
                unit = {"words": len(runs["more"]) // 2 + 1}
        if unit is None:
            if self.stem is not None:
                raise ValueError(
                    "stem does not support a callable analyzer or tokenizer, nor other token patterns "
                    "than runs of word characters; stem in the tokenizer instead"
                )
            return None
        preprocess = None
        case, accents = "lower" if self.lowercase else "keep", self.strip_accents or "keep"
        if self.preprocessor is not None or callable(self.strip_accents):
            preprocess, case, accents = self.build_preprocessor(), "keep", "keep"
        stop_words: Any = "keep"
        if self.analyzer == "word" and self.stop_words is not None:
            words = self.get_stop_words() or frozenset()
            stop_words = "english" if self.stop_words == "english" else {"own": sorted(words)}
            if self.stop_words != "english" or preprocess is not None or accents != "keep":
                self._check_stop_words_consistency(
                    words, self.build_preprocessor(), self.build_tokenizer()
                )
        stem = self.stem if self.analyzer == "word" else None
        options = _analyzer_options(
            case=case,
            accents=accents,
            unit=unit,
            ngrams=[int(n) for n in self.ngram_range],
            stop_words=stop_words,
            stem=stem,
        )
        return json.dumps(options), preprocess

    def _check_stop_words_consistency(
        self, stop_words: Any, preprocess: Callable, tokenize: Callable
    ) -> bool | str | None:
        """Warns of stop words that the tokenizer never produces. Returns whether there are none, ``None`` if these stop
        words were checked before, or "error" if a custom function does not support a single word."""
        if id(self.stop_words) == getattr(self, "_stop_words_id", None):
            return None
        self._stop_words_id = id(self.stop_words)
        stop_words = stop_words or ()
        try:
            found = {token for word in stop_words for token in tokenize(preprocess(word))}
        except Exception:
            return "error"
        inconsistent = sorted(found - set(stop_words))
        if inconsistent:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop "
                f"words generated tokens {inconsistent!r} not in stop_words.",
                stacklevel=2,
            )
        return not inconsistent

    def _check_documents(self, raw_documents: Any) -> None:
        if isinstance(raw_documents, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        low, high = self.ngram_range
        if low > high:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range} "
                "lower boundary larger than the upper boundary."
            )

    def _warn_unused_parameters(self) -> None:
        unused = []
        if callable(self.tokenizer) and self.token_pattern is not None:
            unused.append(("token_pattern", "'tokenizer' is not None'"))
        if callable(self.analyzer):
            if self.preprocessor is not None:
                unused.append(("preprocessor", "'analyzer' is callable'"))
            if self.ngram_range not in ((1, 1), None):
                unused.append(("ngram_range", "'analyzer' is callable'"))
        if self.analyzer != "word":
            for name, default in (("stop_words", None), ("token_pattern", TOKEN_PATTERN)):
                if getattr(self, name) not in (None, default):
                    unused.append((name, "'analyzer' != 'word'"))
            if self.tokenizer is not None:
                unused.append(("tokenizer", "'analyzer' != 'word'"))
            if self.stem is not None and not callable(self.analyzer):
                unused.append(("stem", "'analyzer' != 'word'"))
        for name, reason in unused:
            warnings.warn(f"The parameter '{name}' will not be used since {reason}", stacklevel=3)

    def _documents(self, raw: Iterable[Any], preprocess: Callable[[str], str] | None) -> list[str]:
        """The decoded and preprocessed documents."""
        documents = raw if type(raw) is list else list(raw)
        if self.input != "content" or not all(type(d) is str for d in documents):
            documents = [self.decode(d) for d in documents]
        return documents if preprocess is None else [preprocess(d) for d in documents]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _analyzer_options(**options: Any) -> dict[str, Any]:
    """The options of the compiled analyzer, with defaults for those not given."""
    defaults = {
        "case": "lower",
        "accents": "keep",
        "unit": {"words": 2},
        "ngrams": [1, 1],
        "stop_words": "keep",
        "stem": None,
    }
    return defaults | options
