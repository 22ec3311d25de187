#!/bin/sh
# Instructions per placement of the cases of hekla-bench, by callgrind on a small cluster (wall time
# is noisy); only cycles are counted, not the making of the cluster.
#   bench/instructions.sh [build/release/bin/hekla-bench] [NODES]
set -eu
bench=${1:-build/release/bin/hekla-bench}
nodes=${2:-300}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for name in identical own_classes own_classes_uneven mixed; do
  valgrind --tool=callgrind --trace-children=yes --collect-atstart=no \
    --toggle-collect='hekla::bench::Scenario::Run()' --callgrind-out-file="$out/$name.%p" \
    "$bench" --case "$name" --nodes "$nodes" >"$out/rows" 2>/dev/null
  total=$(cat "$out/$name".* | awk '/^(summary|totals):/ {if ($2 > most) most = $2} END {print most}')
  placed=$(sed -n 's/.*"placements":\([0-9]*\).*/\1/p' "$out/rows" | head -n 1)
  echo "{\"case\":\"$name\",\"nodes\":$nodes,\"instructions_per_placement\":$((total / placed))}"
done
