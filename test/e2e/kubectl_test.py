#!/usr/bin/env python3
"""What people do with kubectl, against heklactl playground.

usage: kubectl_test.py HEKLACTL
"""
import json
import subprocess
import sys
import time
import unittest

from playground import Playground, need_kubectl

HEKLACTL = ""

QUEUE = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 2, reclaimable: true}
"""
DEPLOYMENT = """
apiVersion: example.com/v1
kind: Crew
metadata: {name: crew}
spec: {replicas: 1}
"""
CREW = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crews.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crews, singular: crew, kind: Crew}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
    subresources:
      status: {}
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
"""


def pod(name, cpu="1", group=None):
    metadata = {"name": name, "labels": {"app": name}}
    if group:
        metadata["annotations"] = {"scheduling.k8s.io/group-name": group}
    return json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"schedulerName": "volcano", "containers": [
            {"name": "main", "image": "busybox",
             "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}})


def group(name, members, queue="default"):
    return json.dumps({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                       "metadata": {"name": name}, "spec": {"minMember": members, "queue": queue}})


class KubectlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = Playground(HEKLACTL, "--nodes", "3", "--node-cpu", "4", "--gpu", "0")
        cls.world.__enter__()
        cls.kubectl = cls.world.kubectl

    @classmethod
    def tearDownClass(cls):
        cls.world.__exit__()

    def phase(self, name):
        return lambda: self.world.kubectl("get", "pod", name, "-o", "jsonpath={.status.phase}")

    def test_nodes_are_ready(self):
        lines = self.kubectl("get", "nodes").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "STATUS", "ROLES", "AGE", "VERSION"])
        self.assertEqual([line.split()[1] for line in lines[1:]], ["Ready"] * 3)

    def test_a_pod_without_a_group_runs(self):
        self.kubectl("apply", "-f", "-", stdin=pod("single"))
        self.world.until("Running", self.phase("single"))
        wide = self.kubectl("get", "pod", "single", "-o", "wide").splitlines()
        self.assertIn("NODE", wide[0].split())
        self.assertRegex(wide[1], r"\bnode-\d\b")
        self.assertEqual(self.world.get("pod", "single")["status"]["phase"], "Running")
        self.assertIn("phase: Running", self.kubectl("get", "pod", "single", "-o", "yaml"))
        described = self.kubectl("describe", "pod", "single")
        self.assertRegex(described, r"Node: +node-\d")
        self.assertIn("Successfully assigned default/single to node-", described)

    def test_a_gang_that_does_not_fit_says_why(self):
        self.kubectl("apply", "-f", "-", stdin=group("large", 2))
        for i in range(2):
            self.kubectl("apply", "-f", "-", stdin=pod(f"large-{i}", cpu="5", group="large"))

        def told():
            conditions = self.world.get("podgroup", "large").get("status", {}).get("conditions", [])
            return any("3 Insufficient cpu" in c.get("message", "") for c in conditions)
        self.world.until(True, told)
        # Another wording of a condition comes a second after the first one.
        self.world.until(True, lambda: "nodes are unavailable" in
                         self.kubectl("describe", "pod", "large-0"))
        self.assertIn("FailedScheduling", self.kubectl("describe", "pod", "large-0"))
        self.kubectl("delete", "pod", "large-0", "large-1", "--wait=true")
        self.kubectl("delete", "podgroup", "large")

    def test_queues_print_their_columns(self):
        self.kubectl("apply", "-f", "-", stdin=QUEUE)
        self.assertIn("research", self.kubectl("get", "queues"))
        self.assertEqual(self.world.get("queue", "research")["spec"]["weight"], 2)
        self.assertIn("default", self.kubectl("get", "queue", "default", "-o", "name"))

    def test_label_annotate_and_patch(self):
        self.kubectl("apply", "-f", "-", stdin=pod("marked", cpu="100m"))
        self.kubectl("label", "pod", "marked", "team=red")
        self.kubectl("annotate", "pod", "marked", "note=seen")
        self.kubectl("patch", "pod", "marked", "-p", '{"metadata":{"labels":{"team":"blue"}}}')
        self.kubectl("patch", "pod", "marked", "--type=json", "-p",
                     '[{"op":"add","path":"/metadata/labels/size","value":"s"}]')
        metadata = self.world.get("pod", "marked")["metadata"]
        self.assertEqual(metadata["labels"]["team"], "blue")
        self.assertEqual(metadata["labels"]["size"], "s")
        self.assertEqual(metadata["annotations"]["note"], "seen")
        self.assertEqual(self.kubectl("get", "pods", "-l", "team=blue", "-o", "name").strip(),
                         "pod/marked")

    def test_delete_removes_the_pod(self):
        self.kubectl("apply", "-f", "-", stdin=pod("doomed", cpu="100m"))
        self.world.until("Running", self.phase("doomed"))
        self.kubectl("delete", "pod", "doomed", "--wait=true")
        self.assertNotEqual(self.kubectl("get", "pod", "doomed", check=False).returncode, 0)

    def test_watch_shows_a_pod_on_its_way(self):
        watch = subprocess.Popen(self.world.command("get", "pods", "-w", "-o", "name"),
                                 stdout=subprocess.PIPE, text=True)
        try:
            time.sleep(0.5)
            self.kubectl("apply", "-f", "-", stdin=pod("watched", cpu="100m"))
            self.world.until("Running", self.phase("watched"))
        finally:
            time.sleep(0.3)
            watch.terminate()
        self.assertIn("pod/watched", watch.communicate(timeout=10)[0])

    def test_logs_are_refused_clearly(self):
        self.kubectl("apply", "-f", "-", stdin=pod("silent", cpu="100m"))
        self.world.until("Running", self.phase("silent"))
        done = self.kubectl("logs", "silent", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hollow", done.stderr.lower())

    def test_scale_of_a_custom_resource(self):
        self.kubectl("apply", "-f", "-", stdin=CREW)
        self.kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
        self.kubectl("scale", "crew/crew", "--replicas=5")
        self.assertEqual(self.world.get("crew", "crew")["spec"]["replicas"], 5)

    def test_create_and_replace(self):
        self.kubectl("create", "-f", "-", stdin=group("made", 1))
        again = self.kubectl("create", "-f", "-", stdin=group("made", 1), check=False)
        self.assertIn("AlreadyExists", again.stderr)
        changed = self.world.get("podgroup", "made")
        changed["spec"]["minMember"] = 3
        self.kubectl("replace", "-f", "-", stdin=json.dumps(changed))
        self.assertEqual(self.world.get("podgroup", "made")["spec"]["minMember"], 3)


class PlaygroundTest(unittest.TestCase):
    def test_prints_how_to_use_it_and_stops_at_once(self):
        with Playground(HEKLACTL, "--nodes", "1") as world:
            self.assertEqual(world.stop(), 0)
            self.assertLess(world.stop_seconds, 2)
            with open(world.log_path, encoding="utf-8") as f:
                text = f.read()
            self.assertIn(world.kubeconfig, text)
            self.assertEqual(text.count("  kubectl "), 3, text)
            self.assertNotIn("\r", text)

    def test_bad_flags(self):
        done = subprocess.run([HEKLACTL, "playground", "--nodes=x"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--nodes", done.stderr)


if __name__ == "__main__":
    HEKLACTL = sys.argv.pop(1)
    need_kubectl()
    unittest.main(verbosity=1)
