#!/usr/bin/env python3
"""Refuses retired words where users read them: parameter docs, messages, certificates, Markdown and Python docstrings.

    python3 tools/check_words.py           # the whole repository
    python3 tools/check_words.py docs      # paths that begin with `docs`

Prints `file:line: word: suggested term` for every occurrence and exits with 1 if there is any. Code in Markdown and in Rust is
not checked, only prose: outside of code blocks and code spans, in doc comments of parameters, and in string literals.
Standard library only.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A retired word or phrase, and the term of the field that replaces it.
RETIRED = [
    (r"pric(?:e|es|ed|ing)", "penalty, regularization strength, cost"),
    (r"pulls?", "dual variable"),
    (
        r"told apart|tells? (?:\w+ ){0,3}apart|telling (?:\w+ )?apart",
        "classified, separated, distinguished",
    ),
    (r"(?:is|are|be|was|were) told", "reported, explained"),
    (r"telling columns?", "informative column"),
    (r"strangers?", "outlier, novelty"),
    (r"bell curves?|bells", "Gaussian, normal density"),
    (r"guess(?:es|ed|ing)?", "inferred, preconditioner, initial point"),
    (r"the house(?:'s)?", "the project"),
    (r"faces?", "interface"),
    (r"(?:linear|one-class) machines?", "linear SVM, one-class SVM"),
    (r"(?<!vector )machines? of", "model of, SVM of"),
    (r"planes?", "hyperplane, linear model"),
    (r"random waves|waves of|as waves", "random Fourier features"),
    (
        r"gaps in|gaps (?:is|are|as|kept|filled)|with gaps|no use for gaps|without gaps|for a gap|a gap as",
        "missing value",
    ),
    (
        r"shares? of (?:the )?(?:rows|a row|a value|words?|class)|the share",
        "fraction, proportion, probability",
    ),
    (r"constant terms?", "intercept"),
    (r"climb(?:s|ed|ing)?", "iterate, hill climbing"),
    (r"judge[sd]?|judging", "evaluate, validate"),
    (r"look(?:s|ed)? (?:at|through)", "scan, inspect, pass over"),
    (r"counts? all the same", "equal weights"),
    (r"sets no limit", "`None`: no limit"),
    (r"whoever|somebody|nobody", "name the caller or the value"),
    (r"says? aloud|said aloud", "reported"),
    (r"dear(?:er|est)?|cheap(?:er|est)", "strong, weak, expensive"),
    (r"as many as it takes", "until the tolerance is reached"),
    (r"thin rows?|thin directions?", "sparse rows, null space"),
    (r"twins?", "duplicate row"),
    (r"lanes?", "one-vs-rest subproblem"),
    (
        r"leash|stiffness|crumbs?|ladder",
        "damping, penalty parameter, rounding residue, ranked contributions",
    ),
    (r"second derivatives? (?:written|that are)", "Hessian"),
    (r"rows that (?:curve|pull|push)", "active rows"),
    (
        r"a (?:column|row|class|word|cell|number) a (?:column|row|class|word|cell|fold)",
        "one ... per ...",
    ),
    (r"in our words|own words", "our parameter names"),
    (r"truth values?", "boolean"),
    (r"(?:columns?|\d+) of (?:words|numbers)", "categorical column, numeric column"),
]
WORDS = [
    (re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.I), term) for pattern, term in RETIRED
]

# Where a retired word has its ordinary meaning: path, the text of the line, the reason.
EXCEPTIONS = [
    (
        r".*",
        r"\bprices?\.(?:csv|mercer)|--target price|house prices?|price column",
        "price is the name of a real column",
    ),
    (r".*", r"\btype ?faces?\b", "a font"),
    (r".*", r"[Hh]ill[- ]climbing", "the name of the search algorithm"),
    (r".*", r"SIMD lanes?", "a lane of a SIMD register"),
    (
        r"docs/lectures/04.*",
        r"\(bell curve\)",
        "the everyday name of the normal density, given once",
    ),
    (r"docs/glossary.md", r"^\| intercept ", "defines the term"),
    (r"CHANGELOG.md", r"`(?:machine|prices)`", "names what was renamed"),
]
ALLOWED = [(re.compile(path), re.compile(text)) for path, text, _ in EXCEPTIONS]


def main():
    prefixes = tuple(sys.argv[1:])
    found = 0
    for path, lines in sources():
        name = path.relative_to(ROOT).as_posix()
        if prefixes and not name.startswith(prefixes):
            continue
        for number, text in lines(path.read_text(encoding="utf-8")):
            if any(where.fullmatch(name) and what.search(text) for where, what in ALLOWED):
                continue
            for pattern, term in WORDS:
                for match in pattern.finditer(text):
                    print(f"{name}:{number}: {match[0]}: {term}")
                    found += 1
    if found:
        print(
            f"{found} retired words; docs/glossary.md lists the terms, EXCEPTIONS in {Path(__file__).name} the exceptions"
        )
    sys.exit(1 if found else 0)


def sources():
    """Every file that is checked, with the function that yields its prose as (line number, text)."""
    core = ROOT / "crates/mercer/src"
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        yield path, markdown
    for name in (
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "STYLE.md",
        "bench/REPORT.md",
    ):
        yield ROOT / name, markdown
    for path in sorted(core.rglob("*.rs")):
        yield path, strings if path.is_relative_to(core / "model") else parameters
    for path in sorted((ROOT / "crates/mercer-cli/src").rglob("*.rs")):
        yield path, messages
    for path in sorted((ROOT / "crates/mercer-python/python").rglob("*.py")):
        yield path, docstrings


def markdown(text):
    """Prose without code blocks, code spans and link targets."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def parameters(text):
    """Doc comments inside `params!` and similar macro blocks, which the interfaces print."""
    for block in re.finditer(r"^\s*(?:\w+::)*(?:params|options)!\s*\{(.*?)^\}", text, re.S | re.M):
        first = text.count("\n", 0, block.start(1)) + 1
        for offset, line in enumerate(block[1].split("\n")):
            if comment := re.match(r"\s*///(.*)", line):
                yield first + offset, re.sub(r"`[^`]*`", "", comment[1])


def strings(text):
    """String literals outside of tests."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#\[cfg\(test\)\]", line):
            return
        if not line.lstrip().startswith("//"):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                yield number, re.sub(r"`[^`]*`|\{[^}]*\}", "", literal)


def messages(text):
    """String literals and the doc comments that clap prints as help."""
    yield from strings(text)
    for block in re.finditer(
        r"^#\[derive\([^\]]*(?:Args|Parser|Subcommand|ValueEnum)[^\]]*\)\](.*?)^\}",
        text,
        re.S | re.M,
    ):
        first = text.count("\n", 0, block.start(1)) + 1
        for offset, line in enumerate(block[1].split("\n")):
            if comment := re.match(r"\s*///(.*)", line):
                yield first + offset, re.sub(r"`[^`]*`", "", comment[1])


def docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ) and ast.get_docstring(node):
            doc = node.body[0].value
            for offset, line in enumerate(doc.value.split("\n")):
                if not line.lstrip().startswith((">>>", "...")):
                    yield doc.lineno + offset, re.sub(r"`+[^`]*`+", "", line)


if __name__ == "__main__":
    main()
