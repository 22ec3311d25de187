#!/usr/bin/env bash
# Builds everything and runs the tests.
# usage: scripts/test.sh [--sanitize | --ci]
#   (nothing)    all tests under the preset dev
#   --sanitize   also all tests under asan (address, undefined) and tsan (thread), and libFuzzer
#   --ci         as many random clusters and steps as CI asks for, all unit tests and scenarios also under asan
#                (with a million requests to the API server from a grammar), and libFuzzer
# The last lines are ctest's own closing lines of each run. Exit code 0: everything passed.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

mode=""
case "${1:-}" in
  "") ;;
  --sanitize | --ci) mode=$1 ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

# Clones in different folders share what ccache keeps.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
scripts/setup.sh ${mode:+--e2e}

jobs=$(nproc)
closings=()
failed=0

run() {  # preset [ctest arguments]: a failure is remembered, the other runs still happen
  local preset=$1 log="build/$1/ctest.log"
  shift
  echo "== $preset: build"
  mkdir -p "build/$preset"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log"; exit 1; }
  cmake --build --preset "$preset"
  echo "== $preset: tests"
  ctest --preset "$preset" -j "$jobs" "$@" 2>&1 | tee "$log" || failed=1
  closings+=("$preset" "$log")
}

run_libfuzzer() {  # a fixed number of inputs, guided by coverage
  if command -v clang++-14 >/dev/null 2>&1; then
    run fuzz
  else
    echo "== fuzz: left out, there is no clang++-14 (scripts/setup.sh --e2e could not install it)"
  fi
}

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}

# Four entries of reference_test share the clusters, of which CI compares 10,000; two of simulation_test
# run as many steps each, of which CI runs 260,000.
if [ "$mode" != --ci ]; then
  export HEKLA_PROPERTY_CLUSTERS=${HEKLA_PROPERTY_CLUSTERS:-500}
  export HEKLA_SIMULATION_STEPS=${HEKLA_SIMULATION_STEPS:-4000}
fi

run dev
case $mode in
  --sanitize)
    run asan
    run tsan
    run_libfuzzer
    ;;
  --ci)
    export HEKLA_FUZZ_STEPS=${HEKLA_FUZZ_STEPS:-1000000}
    run asan -L 'unit|scenario'
    run_libfuzzer
    ;;
esac

for ((i = 0; i < ${#closings[@]}; i += 2)); do
  echo
  echo "== ${closings[i]}"
  sed -n '/^[0-9]*% tests passed/,$p' "${closings[i + 1]}"
done
exit $failed
