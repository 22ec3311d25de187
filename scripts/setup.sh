#!/usr/bin/env bash
# Installs what the build, the tests and the demo need from Debian's own packages. May be run again
# and again: says nothing and changes nothing when nothing is missing.
# usage: scripts/setup.sh [--check | --e2e | --realcluster]
#   --check         only say what is missing (exit 1 if anything is)
#   --e2e           also clang with libFuzzer, and the official clients of Python and (where Go is
#                   found) Go, into build/e2e; without them their tests are left out
#   --realcluster   also etcd and, built with Go, kube-apiserver, kube-controller-manager and helm,
#                   into build/realcluster: for scripts/test-realcluster.sh
set -euo pipefail

# Programs and the packages that bring them; taken from wherever the machine has them.
programs=(
  g++:g++ cmake:cmake ninja:ninja-build python3:python3 git:git
  kubectl:kubernetes-client openssl:openssl
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

# etcd is unpacked, not installed: installing would start it as a service of this machine.
get_etcd() {  # folder
  local folder=$1
  if command -v etcd >/dev/null 2>&1 || [ -x "$folder/etcd" ]; then return 0; fi
  echo "setup: getting etcd-server"
  rm -rf "$folder/etcd-package"
  mkdir -p "$folder/etcd-package"
  if ! (
    cd "$folder/etcd-package" &&
      { apt-get -q download etcd-server || { apt update && apt-get -q download etcd-server; }; } &&
      dpkg-deb -x etcd-server_*.deb .
  ) >"$folder/etcd.log" 2>&1; then
    echo "setup: the package etcd-server cannot be had:" >&2
    tail -n 5 "$folder/etcd.log" >&2
    return 3
  fi
  mv "$folder/etcd-package/usr/bin/etcd" "$folder/etcd"
  rm -rf "$folder/etcd-package"
}

# The programs are told their versions, those of the module, at link time; helm also that of Kubernetes.
build_tools() {  # folder source
  local folder=$1 source=$2 begin=$SECONDS sum flags version major minor package
  version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' "$source/go.mod")
  IFS=. read -r major minor _ <<<"${version#v}"
  flags="-s -w"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  done
  for package in chartutil lint/rules; do
    package=helm.sh/helm/v3/pkg/$package
    flags+=" -X $package.k8sVersionMajor=$major -X $package.k8sVersionMinor=$minor"
  done
  flags+=" -X helm.sh/helm/v3/internal/version.version=$(awk '$1 == "helm.sh/helm/v3" { print $2 }' "$source/go.mod")"
  sum=$({ cat "$source/go.mod" "$source/go.sum" && echo "$flags"; } | sha256sum)
  if [ -x "$folder/helm" ] && [ "$(cat "$folder/tools.sum" 2>/dev/null)" = "$sum" ]; then return 0; fi
  echo "setup: building kube-apiserver, kube-controller-manager $version and helm, once"
  if ! (
    cd "$source" &&
      CGO_ENABLED=0 nice go build -p "$(nproc)" -trimpath -ldflags "$flags" -o "$folder/" tool
  ) >"$folder/go.log" 2>&1; then
    echo "setup: the tools of the real control plane cannot be built:" >&2
    tail -n 5 "$folder/go.log" >&2
    # No sources to build is another thing than sources that do not compile.
    if grep -qE 'dial tcp|i/o timeout|no such host|connection refused|TLS handshake' "$folder/go.log"; then return 3; fi
    return 1
  fi
  echo "$sum" >"$folder/tools.sum"
  echo "setup: built in $((SECONDS - begin)) s"
}

install_realcluster() {
  local root folder
  root=$(cd "$(dirname "$0")/.." && pwd)
  folder=$root/build/realcluster
  mkdir -p "$folder"
  get_etcd "$folder" || return
  build_tools "$folder" "$root/test/realcluster/tools"
}

install_missing
case "${1:-}" in
  --e2e) install_e2e ;;
  --realcluster) install_realcluster ;;
esac
