#!/usr/bin/env python3
"""How fast hekla-scheduler binds on a real control plane, and how fast a bare loop does.

usage: bench/realcluster.py [--bin FOLDER] [--nodes N] [--pods N] [--gangs N] [--runs N]
Starts etcd, kube-apiserver and kube-controller-manager of build/realcluster (made by
scripts/setup.sh --realcluster) on loopback, with nodes without machines, as the tests do, and runs
pod_load against them: --mode binds without a scheduler, then --mode gangs with hekla-scheduler.
Everything runs on this machine. A fresh control plane for each run.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/realcluster"))

# pylint: disable=wrong-import-position
from cluster import Rest, until  # noqa: E402
from control_plane import ADMIN_TOKEN, ControlPlane, Program  # noqa: E402


def prepare(plane):
    kubectl = "kubectl", "--kubeconfig", plane.kubeconfig
    subprocess.run([*kubectl, "apply", "--server-side", "-k", ROOT / "config"], check=True,
                   capture_output=True)
    subprocess.run([*kubectl, "wait", "--for=condition=Established", "crd", "--all",
                    "--timeout=60s"], check=True, capture_output=True)
    rest = Rest(plane.server, ADMIN_TOKEN, plane.ca_file)
    until(lambda: rest.send("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200)
    with open(plane.path("admin.token"), "w", encoding="utf-8") as out:
        out.write(ADMIN_TOKEN)
    return rest


def ready_nodes(rest):
    nodes = rest.call("GET", "/api/v1/nodes")["items"]
    return sum(any(c["type"] == "Ready" and c["status"] == "True"
                   for c in node.get("status", {}).get("conditions", []))
               and not node["spec"].get("taints") for node in nodes)


def measure(options, mode):
    with ControlPlane(shutil.which("etcd") or ROOT / "build/realcluster/etcd",
                      ROOT / "build/realcluster") as plane:
        rest = prepare(plane)
        programs = [Program("hollow nodes", [
            f"{options.bin}/heklactl", "hollow-nodes", "--kubeconfig", plane.kubeconfig,
            "--nodes", str(options.nodes), "--prefix=node-", "--node-cpu=64"],
            plane.path("nodes.log"))]
        if mode == "gangs":
            programs.append(Program("hekla-scheduler", [
                f"{options.bin}/hekla-scheduler", "--kubeconfig", plane.kubeconfig,
                "--leader-elect=false", "--kube-api-qps=20000", "--kube-api-burst=20000"],
                plane.path("scheduler.log")))
        try:
            programs[0].start()
            until(lambda: ready_nodes(rest) == options.nodes, 300,
                  lambda: f"{ready_nodes(rest)} nodes are ready")
            for program in programs[1:]:
                program.start()
            if mode == "gangs":
                until(lambda: rest.send("GET", "/apis/scheduling.volcano.sh/v1beta1/queues/default"
                                        )[0] == 200)
            done = subprocess.run([
                f"{options.bin}/pod_load", "--url", plane.server, "--ca-file", plane.ca_file,
                "--token-file", plane.path("admin.token"), "--mode", mode,
                "--gangs", str(options.gangs), "--pods", str(options.pods // options.gangs),
                "--nodes", str(options.nodes), "--in-flight=64"],
                capture_output=True, text=True, check=False)
            print(f"nodes={options.nodes} {done.stdout.strip()} {done.stderr.strip()}", flush=True)
            return done.returncode
        finally:
            for program in reversed(programs):
                program.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    for name, value in (("nodes", 1000), ("pods", 2000), ("gangs", 1), ("runs", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    codes = [measure(options, mode) for _ in range(options.runs) for mode in ("binds", "gangs")]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
