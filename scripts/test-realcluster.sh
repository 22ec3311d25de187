#!/usr/bin/env bash
# Runs Hekla on a real control plane, all of it on this machine and on loopback: etcd from Debian,
# kube-apiserver and kube-controller-manager built from test/realcluster/tools (a Go module), nodes
# without machines, hekla-scheduler and hekla-ray-operator with the rights of config/rbac alone.
# usage: scripts/test-realcluster.sh [--only WORD]
#   --only WORD   only the steps whose name contains WORD
# Everything is built once, into build/realcluster; everything that is started is stopped, whatever
# happens. HEKLA_PRESET (dev) names the build of Hekla to use. The last line says what ran. Exit
# code 0: all of it passed, or there is no Go or no network to build with, which is said.
set -euo pipefail
cd "$(dirname "$0")/.."

only=()
case "${1:-}" in
  "") ;;
  --only) only=(--only "${2:?--only needs a word}") ;;
  -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

if ! command -v go >/dev/null 2>&1; then
  echo "real control plane: LEFT OUT, there is no Go to build kube-apiserver with"
  exit 0
fi

# Clones in different folders share what ccache keeps.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
scripts/setup.sh --e2e
had=0
scripts/setup.sh --realcluster || had=$?
if [ $had = 3 ]; then
  echo "real control plane: LEFT OUT, its sources cannot be reached from here"
  exit 0
fi
[ $had = 0 ] || exit $had

preset=${HEKLA_PRESET:-dev}
echo "== $preset: build"
mkdir -p "build/$preset"
cmake --preset "$preset" >"build/$preset/cmake.log" 2>&1 || { cat "build/$preset/cmake.log"; exit 1; }
cmake --build --preset "$preset" --target heklactl hekla-scheduler hekla-ray-operator

etcd=$(command -v etcd || true)
exec python3 test/realcluster/realcluster_test.py --etcd "${etcd:-build/realcluster/etcd}" \
  --tools build/realcluster --bin "build/$preset/bin" ${only[@]+"${only[@]}"}
