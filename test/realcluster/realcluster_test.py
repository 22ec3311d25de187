#!/usr/bin/env python3
"""Hekla on a real control plane: etcd, kube-apiserver and kube-controller-manager on loopback.

usage: realcluster_test.py --etcd PROGRAM --tools FOLDER --bin FOLDER [--only WORD]
  --etcd   etcd's program
  --tools  folder of kube-apiserver, kube-controller-manager and, if there is one, helm
  --bin    folder of hekla-scheduler, hekla-ray-operator and heklactl
  --only   run only the steps whose name contains this word, and what they need
scripts/test-realcluster.sh builds all of that and calls this. Prints a line per step, says at the
end what ran; exit code 0: everything that ran passed.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "test/e2e")]

# pylint: disable=wrong-import-position
import helm_chart  # noqa: E402
import twins  # noqa: E402
from cluster import Cluster, Rest, World, runs_well, until  # noqa: E402
from control_plane import ADMIN_TOKEN, ControlPlane, Program, kubeconfig  # noqa: E402
from playground import Playground  # noqa: E402
from scenarios import Scenarios  # noqa: E402


class LeftOut(Exception):
    """A step that cannot run here, and why."""


def run(*command, check=True, patience=600, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=patience, check=False, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n"
                             f"{done.stdout[-6000:]}{done.stderr[-6000:]}")
    return done


class Steps:
    """What is done on the cluster, in order; each step is one line of the report."""

    def __init__(self, plane, options):
        self.plane = plane
        self.bin = pathlib.Path(options.bin).resolve()
        self.tools = pathlib.Path(options.tools).resolve()
        self.only = options.only
        self.rest = Rest(plane.server, ADMIN_TOKEN, plane.ca_file)
        self.passed, self.failed, self.left_out = [], [], []

    def kubectl(self, *words, **more):
        return run("kubectl", "--kubeconfig", self.plane.kubeconfig, *words, **more)

    def step(self, name, what, needed=False):
        if self.only and not needed and self.only not in name:
            return
        print(f"== {name}", flush=True)
        began = time.time()
        try:
            what()
        except LeftOut as reason:
            self.left_out.append(f"{name} ({reason})")
            print(f"   left out: {reason}", flush=True)
        except Exception as error:  # the next steps still run
            self.failed.append(name)
            print(f"   FAILED after {time.time() - began:.1f} s: {error}", flush=True)
        else:
            self.passed.append(name)
            print(f"   passed in {time.time() - began:.1f} s", flush=True)

    def run_all(self):
        self.step("kubectl kustomize, apply and server-side dry run of config/", self.install,
                  needed=True)
        if self.failed:
            return  # nothing else could work
        self.step("Helm chart", self.helm)
        self.step("kubectl session", lambda: self.session("kubectl_session_test.py"))
        self.step("Python client session", lambda: self.session("python_client_test.py"))
        self.step("Go client session", self.go_session)
        self.step("same answers from the embedded server", self.twins)
        nodes = Program("hollow nodes", [
            str(self.bin / "heklactl"), "hollow-nodes", "--kubeconfig", self.plane.kubeconfig],
            self.plane.path("nodes.log"))
        nodes.start()
        try:
            self.scenarios()
            self.step("Ray operator", self.ray)
            self.step("hollow nodes end at a signal", lambda: self.ends_well(nodes))
        finally:
            nodes.stop(signal.SIGKILL)

    def install(self):
        written = sum(len(re.findall(r"^kind:", f.read_text(), re.M))
                      for d in ("crd", "rbac", "deploy") for f in (ROOT / "config" / d).glob("*"))
        rendered = len(re.findall(r"^kind:", run("kubectl", "kustomize", ROOT / "config").stdout,
                                  re.M))
        if rendered != written:
            raise AssertionError(f"kubectl kustomize config: {rendered} objects of {written}")
        self.kubectl("apply", "--server-side", "-k", ROOT / "config")
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        again = self.kubectl("apply", "--server-side", "--dry-run=server", "-k", ROOT / "config")
        lines = again.stdout.splitlines()
        if len(lines) != written or not all("server dry run" in line for line in lines):
            raise AssertionError(f"{len(lines)} of {written} objects\n{again.stdout}")
        self.kubectl("apply", "--dry-run=server", "-k", ROOT / "config")
        warnings = [line for line in again.stderr.splitlines() if "Warning" in line]
        if warnings:
            raise AssertionError(warnings)

    def helm(self):
        helm = self.tools / "helm"
        if not helm.exists():
            raise LeftOut(f"no {helm}")
        helm_chart.check(run, helm, self.plane.kubeconfig)

    def twins(self):
        with Playground(str(self.bin / "heklactl"), "--no-scheduler", "--nodes", "0") as embedded:
            requests, listed, differ = twins.compare(self.rest, Rest(embedded.server()))
        print(f"   {requests} requests, {listed} listed differences")
        if differ:
            raise AssertionError(f"{differ} answers differ")

    def session(self, script):
        done = run(sys.executable, ROOT / "test/e2e" / script, "--kubeconfig",
                   self.plane.kubeconfig)
        if "left out" in done.stdout:
            raise LeftOut(done.stdout.strip().removeprefix("left out: "))

    def go_session(self):
        program = ROOT / "build/e2e/goclient"
        if not program.exists():
            raise LeftOut("scripts/setup.sh --e2e has not built it")
        run(program, self.plane.kubeconfig)

    def account(self, namespace, name):
        """A kubeconfig with the rights of a ServiceAccount and no others."""
        token = self.kubectl("create", "token", name, "-n", namespace, "--duration=3h").stdout
        token_file = self.plane.path(f"{name}.token")
        with open(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                  encoding="utf-8") as out:
            out.write(token.strip())
        return kubeconfig(self.plane.path(f"{name}.kubeconfig"), self.plane.server,
                          self.plane.ca_file, {"tokenFile": token_file})

    def scenarios(self):
        config = self.account("volcano-system", "hekla-scheduler")
        Scenarios.cluster = Cluster(self.rest, [str(self.bin / "hekla-scheduler"), "--kubeconfig",
                                                config], self.plane)
        for name in unittest.TestLoader().getTestCaseNames(Scenarios):
            self.step(name.removeprefix("test_").replace("_", " "), lambda n=name: self.scenario(n))

    def scenario(self, name):
        result = Scenarios(name).run()
        if result.skipped:
            raise LeftOut(result.skipped[0][1])
        for _, text in result.errors + result.failures:
            raise AssertionError(f"\n{text}")

    def ends_well(self, program):
        program.must_run()
        code = program.stop(signal.SIGINT, patience=15)
        if code != 0:
            raise AssertionError(f"exit code {code}\n{program.log()}")

    def ray(self):
        """A RayCluster as a gang: operator and scheduler with their own rights, garbage collected
        by the controllers."""
        operator = Program("hekla-ray-operator", [
            str(self.bin / "hekla-ray-operator"), "--kubeconfig",
            self.account("ray-system", "hekla-ray-operator"), "--enable-leader-election=true",
            "--leader-election-namespace=ray-system", "--batch-scheduler=volcano",
            "--metrics-addr=0", "--health-probe-bind-address=0"], self.plane.path("ray.log"))
        with World(Scenarios.cluster) as world:
            world.add_nodes(3, "8")
            world.until_nodes_are_ready()
            with world.scheduler():
                operator.start()
                with runs_well(operator, 15):
                    self.ray_cluster(world)

    def ray_cluster(self, world):
        resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1",
                                                                         "memory": "1Gi"}}

        def template(name):
            return {"spec": {"containers": [{"name": name, "image": "rayproject/ray:2.53.0",
                                             "resources": resources}]}}
        clusters = world.in_namespace("/apis/ray.io/v1", "rayclusters")
        world.create(clusters, {
            "apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "small"},
            "spec": {"rayVersion": "2.53.0",
                     "headGroupSpec": {"rayStartParams": {}, "template": template("ray-head")},
                     "workerGroupSpecs": [{
                         "groupName": "workers", "replicas": 2, "minReplicas": 1, "maxReplicas": 5,
                         "rayStartParams": {}, "template": template("ray-worker")}]}})
        small = f"{clusters}/small"

        def status():
            return world.rest.call("GET", small).get("status", {})
        until(lambda: status().get("state") == "ready", 90, lambda: json.dumps(status()))
        until(lambda: status().get("availableWorkerReplicas") == 2)
        world.until_running(3)
        world.rest.call("PATCH", small, [{"op": "replace", "value": 4,
                                          "path": "/spec/workerGroupSpecs/0/replicas"}],
                        "application/json-patch+json")
        until(lambda: status().get("availableWorkerReplicas") == 4, 60,
              lambda: json.dumps(status()))
        world.rest.call("DELETE", small)
        until(lambda: not world.pods(), 60)
        services = world.in_namespace("/api/v1", "services")
        until(lambda: not world.rest.call("GET", services)["items"], 60)

    def version(self):
        return self.rest.call("GET", "/version")["gitVersion"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--etcd", "--tools", "--bin"):
        parser.add_argument(name, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    # Both end everything in order; unittest lets nothing else through. Shells start what runs in
    # the background with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        return judge(options)
    except KeyboardInterrupt:
        print("real control plane: INTERRUPTED", flush=True)
        return 130


def interrupt(*_):
    raise KeyboardInterrupt


def judge(options):
    began = time.time()
    etcd = run(options.etcd, "--version").stdout.splitlines()[0]
    with ControlPlane(options.etcd, options.tools) as plane:
        steps = Steps(plane, options)
        print(f"== Kubernetes {steps.version()}, {etcd}: started in {time.time() - began:.1f} s",
              flush=True)
        steps.run_all()
    for name in steps.failed:
        print(f"failed: {name}")
    for name in steps.left_out:
        print(f"left out: {name}")
    print(f"real control plane: {len(steps.passed)} passed, {len(steps.failed)} failed, "
          f"{len(steps.left_out)} left out in {time.time() - began:.0f} s")
    return 1 if steps.failed or not steps.passed else 0


if __name__ == "__main__":
    sys.exit(main())
