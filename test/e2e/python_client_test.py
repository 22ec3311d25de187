#!/usr/bin/env python3
"""The official Python client against heklactl playground, or against any cluster.

usage: python_client_test.py HEKLACTL
       python_client_test.py --kubeconfig FILE     another server; nothing may schedule there
Says that it was left out, and passes, where the package `kubernetes` is missing
(scripts/setup.sh --e2e installs it).
"""
import os
import sys
import threading
import unittest
import uuid

from playground import Playground

try:
    from kubernetes import client, config, dynamic, utils, watch
    from kubernetes.client.rest import ApiException
except ImportError:
    INSTALLED = os.path.abspath(
        os.path.join(os.path.dirname(__file__), "../../build/e2e/bin/python"))
    if os.path.exists(INSTALLED) and sys.executable != INSTALLED:
        os.execv(INSTALLED, [INSTALLED, *sys.argv])
    print("left out: no Python package `kubernetes` (scripts/setup.sh --e2e installs it)")
    sys.exit(0)

HEKLACTL = ""
KUBECONFIG = ""
GROUP = ("scheduling.volcano.sh", "v1beta1")


def pod(name, labels=None, scheduler="nobody"):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels or {}),
        spec=client.V1PodSpec(
            scheduler_name=scheduler, termination_grace_period_seconds=0,
            containers=[client.V1Container(
                name="main", image="busybox",
                resources=client.V1ResourceRequirements(requests={"cpu": "100m"}))]))


class PythonClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = None
        path = KUBECONFIG
        if not path:
            cls.world = Playground(HEKLACTL, "--nodes", "2", "--node-cpu", "8", "--gpu", "0")
            cls.world.__enter__()
            path = cls.world.kubeconfig
        config.load_kube_config(path)
        cls.api_client = client.ApiClient()
        cls.core = client.CoreV1Api(cls.api_client)
        cls.custom = client.CustomObjectsApi(cls.api_client)

    @classmethod
    def tearDownClass(cls):
        if cls.world:
            cls.world.__exit__()

    def setUp(self):
        self.ns = "py-" + uuid.uuid4().hex[:8]
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.ns)))

    def tearDown(self):
        self.core.delete_namespace(self.ns)

    def refused(self, status, reason, call):
        with self.assertRaises(ApiException) as caught:
            call()
        self.assertEqual((caught.exception.status, caught.exception.reason.replace(" ", "")),
                         (status, reason), caught.exception.body)
        return caught.exception.body

    def test_discovery_and_version(self):
        self.assertEqual(client.VersionApi().get_code().major, "1")
        groups = {g.name for g in client.ApisApi().get_api_versions().groups}
        self.assertLessEqual({"apps", "coordination.k8s.io", "events.k8s.io", GROUP[0]}, groups)
        kinds = {r.kind for r in self.core.get_api_resources().resources}
        self.assertLessEqual({"Pod", "Node", "Binding", "Event", "Eviction"}, kinds)

    def test_create_read_replace_and_conflicts(self):
        made = self.core.create_namespaced_pod(self.ns, pod("a", {"app": "a"}))
        self.assertEqual(made.status.phase, "Pending")
        self.assertEqual(made.spec.containers[0].image_pull_policy, "Always")
        self.refused(409, "Conflict", lambda: self.core.create_namespaced_pod(self.ns, pod("a")))
        read = self.core.read_namespaced_pod("a", self.ns)
        self.assertEqual(read.metadata.uid, made.metadata.uid)
        read.metadata.labels["step"] = "2"
        replaced = self.core.replace_namespaced_pod("a", self.ns, read)
        self.assertNotEqual(replaced.metadata.resource_version, made.metadata.resource_version)
        self.refused(409, "Conflict",
                     lambda: self.core.replace_namespaced_pod("a", self.ns, read))
        self.refused(404, "NotFound", lambda: self.core.read_namespaced_pod("b", self.ns))

    def test_dry_run_creates_nothing(self):
        self.core.create_namespaced_pod(self.ns, pod("dry"), dry_run="All")
        self.refused(404, "NotFound", lambda: self.core.read_namespaced_pod("dry", self.ns))

    def test_invalid_objects_name_the_field(self):
        bad = pod("a")
        bad.spec.containers = [client.V1Container(name="UPPER", image="x")]
        body = self.refused(422, "UnprocessableEntity",
                            lambda: self.core.create_namespaced_pod(self.ns, bad))
        self.assertIn("spec.containers[0].name", body)

    def test_patches_of_every_kind(self):
        self.core.create_namespaced_pod(self.ns, pod("a", {"app": "a"}))
        merged = self.core.patch_namespaced_pod("a", self.ns, {"metadata": {"labels": {"x": "1"}}})
        self.assertEqual(merged.metadata.labels, {"app": "a", "x": "1"})
        patched = self.core.patch_namespaced_pod(
            "a", self.ns, [{"op": "remove", "path": "/metadata/labels/x"},
                           {"op": "add", "path": "/metadata/labels/y", "value": "2"}])
        self.assertEqual(patched.metadata.labels, {"app": "a", "y": "2"})
        gone = self.core.patch_namespaced_pod("a", self.ns, {"metadata": {"labels": {"y": None}}})
        self.assertEqual(gone.metadata.labels, {"app": "a"})

    def test_server_side_apply_keeps_owners_apart(self):
        resource = dynamic.DynamicClient(self.api_client).resources.get(
            api_version="v1", kind="ConfigMap")

        def applied(manager, data, **options):
            return resource.server_side_apply(
                body={"apiVersion": "v1", "kind": "ConfigMap", "data": data,
                      "metadata": {"name": "shared", "namespace": self.ns}},
                name="shared", namespace=self.ns, field_manager=manager, **options)

        applied("one", {"a": "1"})
        both = applied("two", {"b": "2"})
        self.assertEqual(both.data.to_dict(), {"a": "1", "b": "2"})
        with self.assertRaises(dynamic.exceptions.ConflictError):
            applied("two", {"a": "9", "b": "2"})
        forced = applied("two", {"a": "9"}, force_conflicts=True)
        self.assertEqual(forced.data.to_dict(), {"a": "9"})
        managers = {entry.manager: entry.operation for entry in forced.metadata.managedFields}
        self.assertEqual(managers.get("two"), "Apply")

    def test_selectors_and_pages(self):
        for i in range(7):
            self.core.create_namespaced_pod(
                self.ns, pod(f"p{i}", {"parity": "odd" if i % 2 else "even"}))
        odd = self.core.list_namespaced_pod(self.ns, label_selector="parity in (odd)")
        self.assertEqual([p.metadata.name for p in odd.items], ["p1", "p3", "p5"])
        one = self.core.list_namespaced_pod(self.ns, field_selector="metadata.name=p4")
        self.assertEqual(len(one.items), 1)
        names, token = [], None
        while token != "":
            page = self.core.list_namespaced_pod(self.ns, limit=3, _continue=token)
            self.assertLessEqual(len(page.items), 3)
            names += [p.metadata.name for p in page.items]
            token = page.metadata._continue or ""
        self.assertEqual(names, [f"p{i}" for i in range(7)])

    def test_watch_sees_every_change(self):
        version = self.core.list_namespaced_pod(self.ns).metadata.resource_version
        seen = []

        def follow():
            stream = watch.Watch()
            for event in stream.stream(self.core.list_namespaced_pod, self.ns,
                                       resource_version=version, timeout_seconds=20):
                seen.append((event["type"], event["object"].metadata.name))
                if event["type"] == "DELETED":
                    stream.stop()

        thread = threading.Thread(target=follow)
        thread.start()
        self.core.create_namespaced_pod(self.ns, pod("w"))
        self.core.patch_namespaced_pod("w", self.ns, {"metadata": {"labels": {"x": "1"}}})
        self.core.delete_namespaced_pod("w", self.ns, grace_period_seconds=0)
        thread.join(30)
        # Deletion may first show as a change that sets deletionTimestamp.
        self.assertEqual(list(dict.fromkeys(seen)),
                         [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")])

    def test_binding_by_hand(self):
        if not self.world:
            self.core.create_node(client.V1Node(metadata=client.V1ObjectMeta(name=self.ns)))
        node = "node-0" if self.world else self.ns
        self.core.create_namespaced_pod(self.ns, pod("b"))
        binding = client.V1Binding(
            metadata=client.V1ObjectMeta(name="b"),
            target=client.V1ObjectReference(api_version="v1", kind="Node", name=node))
        # The client cannot read the Status that a binding answers with.
        self.core.create_namespaced_pod_binding("b", self.ns, binding, _preload_content=False)
        self.assertEqual(self.core.read_namespaced_pod("b", self.ns).spec.node_name, node)
        self.refused(409, "Conflict", lambda: self.core.create_namespaced_pod_binding(
            "b", self.ns, binding, _preload_content=False))
        if self.world:
            self.world.until("Running",
                       lambda: self.core.read_namespaced_pod("b", self.ns).status.phase)
        else:
            self.core.delete_node(self.ns)

    def test_custom_objects(self):
        group = {"apiVersion": "/".join(GROUP), "kind": "PodGroup", "metadata": {"name": "g"},
                 "spec": {"minMember": 2, "queue": "default"}}
        made = self.custom.create_namespaced_custom_object(*GROUP, self.ns, "podgroups", group)
        self.assertEqual(made["metadata"]["generation"], 1)
        patched = self.custom.patch_namespaced_custom_object(
            *GROUP, self.ns, "podgroups", "g", {"spec": {"minMember": 3}})
        self.assertEqual(patched["spec"]["minMember"], 3)
        self.assertGreaterEqual(patched["metadata"]["generation"], 2)  # a scheduler writes, too
        self.refused(422, "UnprocessableEntity",
                     lambda: self.custom.patch_namespaced_custom_object(
                         *GROUP, self.ns, "podgroups", "g", {"spec": {"minMember": "many"}}))
        listed = self.custom.list_namespaced_custom_object(*GROUP, self.ns, "podgroups")
        self.assertEqual([g["metadata"]["name"] for g in listed["items"]], ["g"])
        self.custom.delete_namespaced_custom_object(*GROUP, self.ns, "podgroups", "g")
        self.refused(404, "NotFound", lambda: self.custom.get_namespaced_custom_object(
            *GROUP, self.ns, "podgroups", "g"))

    def test_status_is_a_subresource(self):
        queue = {"apiVersion": "/".join(GROUP), "kind": "Queue", "metadata": {"name": self.ns},
                 "spec": {"weight": 1}, "status": {"pending": 7}}
        made = self.custom.create_cluster_custom_object(*GROUP, "queues", queue)
        self.assertNotIn("pending", made.get("status", {}))
        changed = self.custom.patch_cluster_custom_object_status(
            *GROUP, "queues", self.ns, {"status": {"pending": 5}, "spec": {"weight": 9}})
        self.assertEqual((changed["status"]["pending"], changed["spec"]["weight"],
                          changed["metadata"]["generation"]), (5, 1, 1))
        self.custom.delete_cluster_custom_object(*GROUP, "queues", self.ns)

    def test_lease_as_a_lock(self):
        api = client.CoordinationV1Api()
        lease = api.create_namespaced_lease(self.ns, client.V1Lease(
            metadata=client.V1ObjectMeta(name="lock"),
            spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15)))
        stale = lease.metadata.resource_version
        lease.spec.holder_identity = "you"
        api.replace_namespaced_lease("lock", self.ns, lease)
        lease.metadata.resource_version = stale
        self.refused(409, "Conflict",
                     lambda: api.replace_namespaced_lease("lock", self.ns, lease))

    def test_several_objects_at_once_and_cascading_delete(self):
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
        owner = utils.create_from_dict(self.api_client, config_map, namespace=self.ns)[0]
        child = client.V1ConfigMap(metadata=client.V1ObjectMeta(
            name="child", owner_references=[client.V1OwnerReference(
                api_version="v1", kind="ConfigMap", name="owner", uid=owner.metadata.uid)]))
        self.core.create_namespaced_config_map(self.ns, child)
        self.core.delete_namespaced_config_map("owner", self.ns, propagation_policy="Background")

        def left():
            maps = self.core.list_namespaced_config_map(self.ns).items
            return [m.metadata.name for m in maps if m.metadata.name in ("owner", "child")]
        if self.world:  # a bare API server has no garbage collector
            self.world.until([], left)

    def test_a_gang_runs(self):
        if not self.world:
            self.skipTest("no scheduler there")
        self.custom.create_namespaced_custom_object(
            *GROUP, self.ns, "podgroups",
            {"apiVersion": "/".join(GROUP), "kind": "PodGroup", "metadata": {"name": "gang"},
             "spec": {"minMember": 2, "queue": "default"}})
        for i in range(2):
            member = pod(f"m{i}", scheduler="volcano")
            member.metadata.annotations = {"scheduling.k8s.io/group-name": "gang"}
            self.core.create_namespaced_pod(self.ns, member)
        self.world.until(["Running", "Running"], lambda: [
            p.status.phase for p in self.core.list_namespaced_pod(self.ns).items])

        def reasons():
            events = self.core.list_namespaced_event(self.ns).items
            return {e.involved_object.name for e in events
                    if e.reason == "Scheduled" and e.involved_object.kind == "Pod"}
        self.world.until({"m0", "m1"}, reasons)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--kubeconfig":
        KUBECONFIG = sys.argv[2]
        del sys.argv[1:3]
    else:
        HEKLACTL = sys.argv.pop(1)
    unittest.main(verbosity=2)
