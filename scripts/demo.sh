#!/usr/bin/env bash
# Builds Hekla and shows it at work on this machine alone: 20 hollow nodes, a queue, a gang that fits
# and one that does not until a node is added; then a hundred RayClusters, each a gang. Everything is
# looked at with the real kubectl. Exit code 0: all of it happened as it should.
set -euo pipefail
cd "$(dirname "$0")/.."

# Clones in different folders share what ccache keeps.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
scripts/setup.sh

preset=${HEKLA_DEMO_PRESET:-release}
echo "Building (preset $preset) ..."
mkdir -p "build/$preset"
cmake --preset "$preset" >"build/$preset/cmake.log" 2>&1 || { cat "build/$preset/cmake.log"; exit 1; }
cmake --build --preset "$preset" --target heklactl

folder=$(mktemp -d)
export KUBECONFIG="$folder/kubeconfig"
playground=""
finish() {
  local code=$?
  if [ -n "$playground" ]; then
    kill -INT "$playground" 2>/dev/null || true
    wait "$playground" 2>/dev/null || true
  fi
  [ $code = 0 ] || { echo; echo "The demo failed. Last lines of the playground:"; tail -n 20 "$folder/log"; }
  rm -rf "$folder"
  exit $code
}
trap finish EXIT
trap 'exit 130' INT TERM

bold="" plain=""
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain"; "$@"; }

show_top() {  # lines command...: only the first lines of what it prints
  local lines=$1
  shift
  printf '%s$ %s%s\n' "$bold" "$*" "$plain"
  "$@" >"$folder/out"
  head -n "$lines" "$folder/out"
  [ "$(wc -l <"$folder/out")" -le "$lines" ] || echo "..."
}

until_equal() {  # seconds expected command...: polls until the command prints what is expected
  local end=$((SECONDS + $1)) expected=$2 got=""
  shift 2
  while [ $SECONDS -le $end ]; do
    got=$("$@" 2>&1 || true)
    [ "$got" = "$expected" ] && return 0
    sleep 0.1
  done
  echo "waited in vain for \"$expected\" from: $*" >&2
  echo "the last answer was: $got" >&2
  return 1
}

gang() {  # name members gpus: a PodGroup and its pods that start together or not at all
  cat <<YAML
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: $1}
spec: {queue: research, minMember: $2}
YAML
  local i
  for ((i = 0; i < $2; ++i)); do
    cat <<YAML
---
apiVersion: v1
kind: Pod
metadata:
  name: $1-$i
  annotations: {scheduling.k8s.io/group-name: $1}
spec:
  schedulerName: volcano
  containers:
  - name: worker
    image: trainer
    resources:
      requests: {cpu: "4", memory: 16Gi, nvidia.com/gpu: "$3"}
      limits: {nvidia.com/gpu: "$3"}
YAML
  done
}

start_playground() {  # flags...
  rm -f "$KUBECONFIG"
  "build/$preset/bin/heklactl" playground "$@" --kubeconfig "$KUBECONFIG" >"$folder/log" 2>&1 &
  playground=$!
  local i
  for ((i = 0; i < 100; ++i)); do
    [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && return 0
    kill -0 "$playground" 2>/dev/null || exit 1
    sleep 0.1
  done
  exit 1
}
stop_playground() {
  kill -INT "$playground"
  wait "$playground" || true
  playground=""
}

start_playground --nodes 20 --node-cpu 32 --node-memory 128Gi --gpu 8

say "A cluster of 20 hollow nodes with 8 GPUs each, and a queue"
until_equal 10 20 bash -c 'kubectl get nodes --no-headers | wc -l'
show_top 5 kubectl get nodes
show kubectl apply -f config/samples/queue.yaml
show kubectl get queue research

say "A gang of 4 workers with 2 GPUs each: it fits"
gang fits 4 2 >"$folder/fits.yaml"
show_top 2 kubectl apply -f "$folder/fits.yaml"
until_equal 20 Running kubectl get podgroup fits -o 'jsonpath={.status.phase}'
until_equal 20 "Running Running Running Running" \
  kubectl get pod fits-0 fits-1 fits-2 fits-3 -o 'jsonpath={.items[*].status.phase}'
show kubectl get podgroup fits
show kubectl get pods -o wide

say "A gang of 17 with 8 GPUs each, but only 16 nodes have all 8 free: not one of its pods starts"
gang big 17 8 >"$folder/big.yaml"
show_top 2 kubectl apply -f "$folder/big.yaml"
reason="0/20 nodes are unavailable: 20 Insufficient nvidia.com/gpu."
told() {
  kubectl get podgroup big -o 'jsonpath={.status.conditions[?(@.type=="Unschedulable")].message}' |
    grep -qF "$reason" && echo told
}
until_equal 20 told told
until_equal 10 "" kubectl get pods -o \
  'jsonpath={.items[?(@.metadata.annotations.scheduling\.k8s\.io/group-name=="big")].spec.nodeName}'
show kubectl get podgroup big
show kubectl get podgroup big -o 'jsonpath={.status.conditions[?(@.type=="Unschedulable")].message}{"\n"}'
show_top 4 kubectl get pods --field-selector status.phase=Pending

say "One more node: the whole gang starts"
kubectl get node node-19 -o yaml |
  sed -e 's/node-19/node-20/g' -e '/^  uid:/d' -e '/^  resourceVersion:/d' -e '/^  creationTimestamp:/d' \
    >"$folder/node.yaml"
show kubectl create -f "$folder/node.yaml"
until_equal 20 Running kubectl get podgroup big -o 'jsonpath={.status.phase}'
running() { kubectl get pods --no-headers --field-selector status.phase=Running | grep -c '^big-'; }
until_equal 20 17 running
show kubectl get podgroups
echo
echo "Both gangs run."
stop_playground

clusters=100
raycluster() {  # name: a head and two workers that start together or not at all
  local resources='{requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "1", memory: 1Gi}}'
  cat <<YAML
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: $1}
spec:
  rayVersion: 2.52.0
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: ray-head, image: rayproject/ray:2.52.0, resources: $resources}]}}
  workerGroupSpecs:
  - groupName: workers
    replicas: 2
    minReplicas: 2
    maxReplicas: 2
    rayStartParams: {}
    template: {spec: {containers: [{name: ray-worker, image: rayproject/ray:2.52.0, resources: $resources}]}}
---
YAML
}
state_of_all() { kubectl get rayclusters -o 'jsonpath={range .items[*]}{.status.state}{"\n"}{end}'; }
seconds_since() { awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }'; }
metrics_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

say "Act two: $clusters RayClusters at once, each a gang of three pods; two reconciles at a time"
start_playground --ray --batch-scheduler volcano --reconcile-concurrency 2 --nodes 20 --node-cpu 32 \
  --metrics-addr "127.0.0.1:$metrics_port"
for ((i = 0; i < clusters; ++i)); do raycluster "ray-$i"; done >"$folder/rayclusters.yaml"
printf '%s$ kubectl create -f %s%s\n' "$bold" "$folder/rayclusters.yaml" "$plain"
kubectl create -f "$folder/rayclusters.yaml" >"$folder/created" &
create=$!
began=$(date +%s.%N)
for ((i = 0; i < 600; ++i)); do
  ready=$(state_of_all 2>/dev/null | grep -c '^ready$' || true)
  line="ready ${ready:-0} of $clusters after $(seconds_since "$began") s"
  if [ -t 1 ]; then printf '\r%s' "$line"; else echo "$line"; fi
  [ "${ready:-0}" = "$clusters" ] && break
  sleep 0.2
done
echo
wait "$create"
until_equal 1 "$clusters" bash -c "kubectl get rayclusters -o 'jsonpath={.items[*].status.state}' | wc -w"
until_equal 1 "$clusters" bash -c "kubectl get podgroups --no-headers | wc -l"
show_top 4 kubectl get rayclusters
show_top 4 kubectl get podgroups

say "How long each key waited for a worker and was worked on, from the operator's metrics"
curl -fsS "http://127.0.0.1:$metrics_port/metrics" >"$folder/metrics"
python3 scripts/key_times.py "$folder/metrics"
echo
echo "All $clusters RayClusters are ready. Try it yourself: build/$preset/bin/heklactl playground --ray"
