#!/usr/bin/env python3
"""What people do with RayClusters and kubectl, against heklactl playground --ray.

usage: ray_kubectl_test.py HEKLACTL
"""
import os
import sys
import unittest

from playground import Playground, need_kubectl

HEKLACTL = ""
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config/samples")


def sample(name):
    return os.path.join(SAMPLES, name)


class RayKubectlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = Playground(HEKLACTL, "--ray", "--nodes", "5", "--reconcile-concurrency", "2")
        cls.world.__enter__()
        cls.kubectl = cls.world.kubectl

    @classmethod
    def tearDownClass(cls):
        cls.world.__exit__()

    def field(self, path, name):
        return lambda: self.world.kubectl("get", "raycluster", name, "-o", f"jsonpath={{{path}}}")

    def pods_of(self, name):
        return self.world.get("pods", "-l", f"ray.io/cluster={name}")["items"]

    def apply(self, file):
        """Applies the sample's RayCluster; returns its name."""
        self.kubectl("apply", "-f", sample(file))
        return self.kubectl("get", "-f", sample(file), "-o",
                            "jsonpath={.items[?(@.kind=='RayCluster')].metadata.name}"
                            "{.metadata.name}").split()[0]

    def test_apply_get_scale_delete(self):
        name = self.apply("raycluster.yaml")
        self.world.until("ready", self.field(".status.state", name))
        wanted = int(self.field(".status.desiredWorkerReplicas", name)())
        self.assertGreater(wanted, 0)
        self.world.until(str(wanted), self.field(".status.availableWorkerReplicas", name))
        header, row = self.kubectl("get", "raycluster", name).splitlines()
        self.assertEqual(header.split("  ")[0], "NAME")
        for column in ("DESIRED WORKERS", "AVAILABLE WORKERS", "CPUS", "MEMORY", "GPUS", "STATUS",
                       "AGE"):
            self.assertIn(column, header)
        self.assertEqual(row.split()[:3], [name, str(wanted), str(wanted)])
        self.assertIn("ready", row)
        wide = self.kubectl("get", "raycluster", name, "-o", "wide")
        self.assertIn("HEAD POD IP", wide)

        self.kubectl("patch", "raycluster", name, "--type=json", "-p",
                     '[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":3}]')
        self.world.until("3", self.field(".status.availableWorkerReplicas", name))
        self.world.until(4, lambda: len(self.pods_of(name)))
        self.kubectl("patch", "raycluster", name, "--type=json", "-p",
                     '[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":1}]')
        self.world.until(2, lambda: len(self.pods_of(name)))

        described = self.kubectl("describe", "raycluster", name)
        self.assertIn("CreatedHeadPod", described)
        self.assertIn("CreatedWorkerPod", described)
        self.kubectl("delete", "raycluster", name, "--wait=true")
        self.world.until([], lambda: self.pods_of(name))
        self.world.until("", lambda: self.kubectl("get", "service", "-o", "name", "-l",
                                                  f"ray.io/cluster={name}").strip())

    def test_a_deleted_worker_comes_back(self):
        name = self.apply("raycluster-labels.yaml")
        self.world.until("ready", self.field(".status.state", name))
        before = {pod["metadata"]["name"] for pod in self.pods_of(name)}
        worker = next(pod["metadata"]["name"] for pod in self.pods_of(name)
                      if pod["metadata"]["labels"]["ray.io/node-type"] == "worker")
        self.kubectl("delete", "pod", worker, "--wait=true")
        self.world.until(len(before), lambda: len(self.pods_of(name)))
        self.assertNotIn(worker, {pod["metadata"]["name"] for pod in self.pods_of(name)})
        self.kubectl("delete", "raycluster", name, "--wait=true")

    def test_an_invalid_cluster_is_told_so_and_hurts_nobody(self):
        self.kubectl("apply", "-f", "-", stdin="""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: broken}
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: []}}
""")
        self.world.until(True, lambda: "InvalidRayClusterSpec" in self.kubectl(
            "describe", "raycluster", "broken"))
        self.assertEqual(self.pods_of("broken"), [])
        self.kubectl("delete", "raycluster", "broken", "--wait=true")

    def test_suspended_has_no_pods_until_resumed(self):
        name = self.apply("raycluster-suspended.yaml")
        self.world.until("suspended", self.field(".status.state", name))
        self.assertEqual(self.pods_of(name), [])
        self.kubectl("patch", "raycluster", name, "--type=merge", "-p", '{"spec":{"suspend":false}}')
        self.world.until("ready", self.field(".status.state", name))
        self.kubectl("delete", "raycluster", name, "--wait=true")


class RayGangTest(unittest.TestCase):
    """With volcano as batch scheduler a RayCluster starts as one gang or not at all."""

    def test_gang_waits_for_room(self):
        with Playground(HEKLACTL, "--ray", "--batch-scheduler", "volcano", "--nodes", "2",
                        "--node-cpu", "4", "--gpu", "0", "--metrics-addr",
                        "127.0.0.1:0") as world:
            cluster = """
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: %s
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: head
          image: rayproject/ray:2.52.0
          resources: {requests: {cpu: "2"}, limits: {cpu: "2"}}
  workerGroupSpecs:
  - groupName: w
    replicas: 2
    minReplicas: 2
    maxReplicas: 2
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: worker
          image: rayproject/ray:2.52.0
          resources: {requests: {cpu: "2"}, limits: {cpu: "2"}}
"""
            state = "jsonpath={.status.state}"
            world.kubectl("apply", "-f", "-", stdin=cluster % "first")
            world.until("ready", lambda: world.kubectl("get", "raycluster", "first", "-o", state))
            world.kubectl("apply", "-f", "-", stdin=cluster % "second")
            groups = ("get", "podgroups", "-o", "jsonpath={.items[*].spec.minMember}")
            world.until("3 3", lambda: world.kubectl(*groups))
            bound = ("get", "pods", "-l", "ray.io/cluster=second", "-o",
                     "jsonpath={.items[*].spec.nodeName}")
            # 2 CPUs are free: enough for one pod, not for the gang.
            self.assertEqual(world.kubectl(*bound), "")
            world.kubectl("delete", "raycluster", "first", "--wait=true")
            world.until("ready", lambda: world.kubectl("get", "raycluster", "second", "-o", state))
            self.assertEqual(len(world.kubectl(*bound).split()), 3)


def main():
    global HEKLACTL
    HEKLACTL = os.path.abspath(sys.argv[1])
    need_kubectl()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()
