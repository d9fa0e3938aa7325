#!/bin/sh
# Runs the worked examples of the lectures: sh examples/lectures.sh
#
# Every model is fitted as in the lecture (no smoothing, sample variances), and the prediction is explained factor by
# factor. Models are written to a temporary folder, which is removed.
set -eu
cd "$(dirname "$0")/.."
data=$PWD/examples/data
# To use another binary: MERCER=target/release/mercer sh examples/lectures.sh
mercer() {
    if [ -n "${MERCER:-}" ]; then "$MERCER" "$@"; else cargo run --quiet --release -- "$@"; fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fit() { # table, target, options
    table=$1 target=$2
    shift 2
    mercer train "$data/$table" --target "$target" --folds 0 --out "$work/$table.mercer" "$@" > /dev/null 2>&1
}
explain() { # table, header and row, file extension
    printf "$2" > "$work/row.$3"
    mercer explain "$work/$1.mercer" "$work/row.$3"
}

echo "== Who evades taxes? Married, no refund, an income of 120"
fit tax.csv evade --set alpha=0 --set variance=sample --likelihood taxable_income=gaussian
explain tax.csv 'refund,marital_status,taxable_income\nNo,Married,120\n' csv

echo "== Mammal or not? Gives birth, does not fly, lives in water, has no legs"
fit mammals.csv class --ignore name --model mixed-nb --set alpha=0
explain mammals.csv 'give_birth,can_fly,live_in_water,have_legs\nyes,no,yes,no\n' csv

echo "== Peaceful or stressed? High income, gives, sleeps eight hours"
fit lifestyle.csv lifestyle --set alpha=0 --column income_level=categorical --column giving=categorical \
    --likelihood sleep=gaussian
explain lifestyle.csv 'income_level,giving,sleep\n2,1,8\n' csv

echo "== One a, one b, one c: which class of documents?"
fit documents.csv class --model multinomial-nb --set alpha=0
explain documents.csv 'a,b,c\n1,1,1\n' csv

echo "== Is it about China? Chinese Chinese Chinese Tokyo Japan"
fit china.tsv class --text text
explain china.tsv 'text\nChinese Chinese Chinese Tokyo Japan\n' tsv
