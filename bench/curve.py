"""Test error against training time on MNIST: exact SVC, approximate SVC, and LIBSVM on subsets of the rows.

    bench/.venv/bin/python bench/curve.py [--quick]

Every implementation runs in its own process. Results are stored in `bench/curve.json` and not measured again; the plot is
`bench/curve.svg`.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MNIST = HERE.parents[1] / "shared" / "data" / "mnist" / "mnist.npz"

RUN = """
import json, sys, time, numpy as np
data = np.load(sys.argv[1])
n, quick = int(sys.argv[2]), sys.argv[3] == "quick"
x, y = data["X_train"].reshape(60_000, -1)[:n] / 255.0, data["y_train"][:n].astype(int)
xt, yt = data["X_test"].reshape(10_000, -1) / 255.0, data["y_test"]
{imports}
model = {make}
start = time.perf_counter(); model.fit(x, y); seconds = time.perf_counter() - start
print(json.dumps({{"seconds": seconds, "error": float((model.predict(xt) != yt).mean())}}))
"""

OURS = "from mercer.svm import SVC, LinearSVC"
FOURIER = (
    "from sklearn.pipeline import make_pipeline\nfrom mercer.kernel_approximation import RBFSampler\n"
    + OURS
)
THEIRS = (
    "from sklearn.pipeline import make_pipeline\nfrom sklearn.kernel_approximation import Nystroem\n"
    "from sklearn.svm import SVC, LinearSVC"
)

COLORS = {
    "Mercer, exact": "#1f4e79",
    "Mercer, approx": "#2e8b57",
    "Mercer, random Fourier features + linear SVM": "#c77700",
    "scikit-learn, Nystroem + linear SVM": "#8b2e5a",
    "scikit-learn (LIBSVM), subset of rows": "#777777",
}


def implementations(quick):
    rows = 6_000 if quick else 60_000
    sizes = [100, 300] if quick else [100, 300, 1_000, 1_700, 2_000, 4_000, 8_000]
    yield "Mercer, exact", rows, rows, OURS, "SVC(C=10, gamma=0.02)"
    for m in sizes:
        yield "Mercer, approx", m, rows, OURS, f"SVC(C=10, gamma=0.02, approx={m})"
    for m in sizes:
        made = (
            f"make_pipeline(RBFSampler(gamma=0.02, n_components={m}, random_state=0, "
            'directions="structured"), LinearSVC(C=10, tol=1e-3))'
        )
        yield "Mercer, random Fourier features + linear SVM", m, rows, FOURIER, made
    for m in sizes[:2]:
        made = f"make_pipeline(Nystroem(gamma=0.02, n_components={m}, random_state=0), LinearSVC(C=10, tol=1e-3))"
        yield "scikit-learn, Nystroem + linear SVM", m, rows, THEIRS, made
    for some in [1_000, 3_000] if quick else [1_000, 3_000, 10_000, 60_000]:
        yield (
            "scikit-learn (LIBSVM), subset of rows",
            some,
            some,
            THEIRS,
            "SVC(C=10, gamma=0.02, cache_size=1000)",
        )


def run(rows, imports, make, quick, limit):
    code = RUN.format(imports=imports, make=make)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        code,
        str(MNIST),
        str(rows),
        "quick" if quick else "all",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "limit": limit}
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def draw(points):
    """Both axes are logarithmic: training time in seconds, test error in percent."""
    known = [p for p in points if p.get("error")]
    width, height, left, bottom = 760, 460, 60, 50
    xs = [math.log10(p["seconds"]) for p in known]
    ys = [math.log10(100 * p["error"]) for p in known]
    low, high = math.floor(min(xs)), math.ceil(max(xs))
    least, most = min(ys) - 0.05, max(ys) + 0.05

    def at(x, y):
        across = left + (x - low) / (high - low) * (width - left - 20)
        up = height - bottom - (y - least) / (most - least) * (height - bottom - 40)
        return f"{across:.1f}", f"{up:.1f}"

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="22" font-size="14">MNIST, 60,000 rows: test error on 10,000 rows against '
        "training time in seconds</text>",
    ]
    for power in range(low, high + 1):
        x, _ = at(power, least)
        out.append(f'<line x1="{x}" y1="40" x2="{x}" y2="{height - bottom}" stroke="#ddd"/>')
        out.append(
            f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{10.0**power:g} s</text>'
        )
    for percent in [1, 1.5, 2, 3, 5, 8, 12]:
        if least <= math.log10(percent) <= most:
            x, y = at(low, math.log10(percent))
            out.append(f'<line x1="{x}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="#ddd"/>')
            out.append(
                f'<text x="{left - 6}" y="{y}" text-anchor="end" dy="4">{percent:g} %</text>'
            )
    for place, (name, color) in enumerate(COLORS.items()):
        own = [p for p in known if p["implementation"] == name]
        places = [at(math.log10(p["seconds"]), math.log10(100 * p["error"])) for p in own]
        line = " ".join(f"{x},{y}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for (x, y), p in zip(places, own, strict=True):
            out.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>')
            out.append(f'<text x="{x}" y="{y}" dx="6" dy="-6" fill="{color}">{p["size"]:,}</text>')
        y = 52 + 18 * place
        out.append(f'<circle cx="{width - 330}" cy="{y - 4}" r="4" fill="{color}"/>')
        out.append(f'<text x="{width - 320}" y="{y}">{name}</text>')
    out.append("</svg>")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and features")
    parser.add_argument(
        "--limit", type=float, default=600, help="time limit of one implementation in seconds"
    )
    args = parser.parse_args()
    if not MNIST.exists():
        sys.exit(f"there is no {MNIST}")
    ending = "-quick" if args.quick else ""
    kept = HERE / f"curve{ending}.json"
    points = json.loads(kept.read_text()) if kept.exists() else []
    for label, size, rows, imports, make in implementations(args.quick):
        if any((point["implementation"], point["size"]) == (label, size) for point in points):
            continue
        point = {
            "implementation": label,
            "size": size,
            **run(rows, imports, make, args.quick, args.limit),
        }
        points.append(point)
        result = (
            f"{point['seconds']:8.2f} s  {100 * point['error']:6.2f} %"
            if point["seconds"]
            else "out of time"
        )
        print(f"{label:34} {size:>7,}  {result}", flush=True)
        kept.write_text(json.dumps(points, indent=1) + "\n")
    (HERE / f"curve{ending}.svg").write_text(draw(points) + "\n")


if __name__ == "__main__":
    main()
