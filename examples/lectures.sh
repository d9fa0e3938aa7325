#!/bin/sh
# The worked examples of the lectures, computed: sh examples/lectures.sh
#
# Every table is learned from as the lecture does it (plain shares, sample variances) and the prediction
# told factor by factor. Models go to a folder of their own, which is removed.
set -eu
cd "$(dirname "$0")/.."
data=$PWD/examples/data
# Another binary may be named: MERCER=target/release/mercer sh examples/lectures.sh
mercer() {
    if [ -n "${MERCER:-}" ]; then "$MERCER" "$@"; else cargo run --quiet --release -- "$@"; fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

learn() { # name of the table, target, options
    table=$1 target=$2
    shift 2
    mercer train "$data/$table" --target "$target" --folds 0 --out "$work/$table.mercer" "$@" > /dev/null 2>&1
}
tell() { # name of the table, a row with its header
    printf "$2" > "$work/row.$3"
    mercer explain "$work/$1.mercer" "$work/row.$3"
}

echo "== Who evades taxes? Married, no refund, an income of 120"
learn tax.csv evade --set alpha=0 --set variance=sample --likelihood taxable_income=gaussian
tell tax.csv 'refund,marital_status,taxable_income\nNo,Married,120\n' csv

echo "== Mammal or not? Gives birth, does not fly, lives in water, has no legs"
learn mammals.csv class --ignore name --model mixed-nb --set alpha=0
tell mammals.csv 'give_birth,can_fly,live_in_water,have_legs\nyes,no,yes,no\n' csv

echo "== Peaceful or stressed? High income, gives, sleeps eight hours"
learn lifestyle.csv lifestyle --set alpha=0 --column income_level=categorical --column giving=categorical \
    --likelihood sleep=gaussian
tell lifestyle.csv 'income_level,giving,sleep\n2,1,8\n' csv

echo "== One a, one b, one c: which class of documents?"
learn documents.csv class --model multinomial-nb --set alpha=0
tell documents.csv 'a,b,c\n1,1,1\n' csv

echo "== Is it about China? Chinese Chinese Chinese Tokyo Japan"
learn china.tsv class --text text
tell china.tsv 'text\nChinese Chinese Chinese Tokyo Japan\n' tsv
