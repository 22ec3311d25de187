#!/usr/bin/env bash
# Installs what the build, the tests and the demo need from Debian's own packages. May be run again
# and again: says nothing and changes nothing when nothing is missing.
# usage: scripts/setup.sh [--check | --e2e]
#   --check   only say what is missing (exit 1 if anything is)
#   --e2e     also clang with libFuzzer, and the official clients of Python and (where Go is found) Go, into
#             build/e2e; without them their tests are left out
set -euo pipefail

# Programs and the packages that bring them; taken from wherever the machine has them.
programs=(
  g++:g++ cmake:cmake ninja:ninja-build python3:python3 git:git
  kubectl:kubernetes-client
)
libraries=(
  libabsl-dev libboost-dev libcpprest-dev libgflags-dev libgmock-dev libgoogle-glog-dev libgtest-dev
  libssl-dev libyaml-cpp-dev rapidjson-dev zlib1g-dev
)
# Good to have: without them the build is slower or a check says that it was left out.
optional=(ccache:ccache clang-format-14:clang-format-14 mold:mold)
optional_libraries=(libbenchmark-dev)
if [ "${1:-}" = --e2e ]; then
  optional+=(clang++-14:clang-14)
  optional_libraries+=(libclang-rt-14-dev)
fi

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing_of() {  # program:package ... -> packages
  local pair
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || echo "${pair#*:}"
  done
}

missing_libraries_of() {
  local package
  for package in "$@"; do installed "$package" || echo "$package"; done
}

apt() {
  local sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 -q "$@"
}

install_all() {  # kind packages...: together, or one by one to name the one that fails
  local kind=$1 package failed=0
  shift
  echo "setup: installing $*"
  apt install -y --no-install-recommends "$@" >"$log" 2>&1 && return 0
  for package in "$@"; do
    apt install -y --no-install-recommends "$package" >"$log" 2>&1 && continue
    echo "setup: the $kind package $package cannot be installed:" >&2
    grep -E '^(E|W):' "$log" >&2 || tail -n 5 "$log" >&2
    failed=1
  done
  return $failed
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this script knows Debian 12 and its relatives only; needed are:" \
    "${programs[*]#*:} ${libraries[*]}" >&2
  exit 1
fi

mapfile -t needed < <(missing_of "${programs[@]}"; missing_libraries_of "${libraries[@]}")
mapfile -t wanted < <(missing_of "${optional[@]}"; missing_libraries_of "${optional_libraries[@]}")

if [ "${1:-}" = --check ]; then
  [ ${#needed[@]} -eq 0 ] || { echo "setup: missing: ${needed[*]}"; exit 1; }
  exit 0
fi

install_missing() {
  [ ${#needed[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || return 0

  # What was good to have and cannot be had is asked for once, not at every run.
  stamp="$(dirname "$0")/../build/setup-optional-tried"
  if [ ${#needed[@]} -eq 0 ] && [ -e "$stamp" ] && [ "$(cat "$stamp")" = "${wanted[*]}" ]; then return 0; fi

  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  apt update >"$log" 2>&1 || { echo "setup: apt-get update failed, going on with the lists there are" >&2; }
  [ ${#needed[@]} -eq 0 ] || install_all needed "${needed[@]}"
  if [ ${#wanted[@]} -gt 0 ] && ! install_all optional "${wanted[@]}"; then
    echo "setup: going on without what is only good to have" >&2
    mkdir -p "$(dirname "$stamp")"
    printf '%s' "${wanted[*]}" >"$stamp"
  fi
}

# From the package registries, in a folder of its own. Not reached: said, not an error.
install_e2e() {
  local root folder source
  root=$(cd "$(dirname "$0")/.." && pwd)
  folder=$root/build/e2e source=$root/test/e2e/goclient
  mkdir -p "$folder"
  if ! "$folder/bin/python" -c 'import kubernetes' 2>/dev/null; then
    { python3 -m venv "$folder" && "$folder/bin/pip" -q install 'kubernetes>=30,<40'; } >"$folder/python.log" 2>&1 ||
      echo "setup: no Python client (see build/e2e/python.log), its test is left out" >&2
  fi
  if command -v go >/dev/null 2>&1 && [ ! "$folder/goclient" -nt "$source/main.go" ]; then
    (cd "$source" && go build -o "$folder/goclient" .) >"$folder/go.log" 2>&1 ||
      echo "setup: no Go client (see build/e2e/go.log), its test is left out" >&2
  fi
}

install_missing
[ "${1:-}" != --e2e ] || install_e2e
