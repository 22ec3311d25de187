"""Talks to any API server with nothing but Python's own library, and makes what scenarios need."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import ssl
import tempfile
import threading
import time
import urllib.parse
import uuid

from control_plane import Program

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
FAKE_NODE = {"kwok.x-k8s.io/node": "fake"}
WORKERS = 8
FRESH_SECONDS = 5  # servers close idle connections, and restarts close all of them


@contextlib.contextmanager
def runs_well(program, patience, may_be_refused=False):
    """A started program runs for a while; it must then end well within `patience` seconds, and never
    have asked for what it may not."""
    try:
        yield program
        program.must_run()
    except BaseException:
        print(program.log(), flush=True)
        raise
    finally:
        code = program.stop(patience=patience)
    assert code == 0, f"{program.name} ended with {code}:\n{program.log()}"
    if may_be_refused:
        return
    # Nobody may create in a namespace that is being deleted, whatever his rights.
    with open(program.log_path, encoding="utf-8") as log:
        refused = [line for line in log
                   if "forbidden" in line.lower() and "is being terminated" not in line]
    assert not refused, refused[:5]


class Refused(AssertionError):
    """An answer of 400 or more."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class Rest:
    """One connection per thread, and a pool of threads. No answer: OSError."""

    def __init__(self, server, token="", ca_file=""):
        url = urllib.parse.urlsplit(server)
        self.address = url.hostname, url.port
        self.context = ssl.create_default_context(cafile=ca_file) if url.scheme == "https" else None
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.local = threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)

    def _connection(self):
        stale = time.time() - getattr(self.local, "used", 0) > FRESH_SECONDS
        if stale and getattr(self.local, "connection", None) is not None:
            self.local.connection.close()
            self.local.connection = None
        self.local.used = time.time()
        if getattr(self.local, "connection", None) is None:
            self.local.connection = (
                http.client.HTTPSConnection(*self.address, timeout=30, context=self.context)
                if self.context else http.client.HTTPConnection(*self.address, timeout=30))
        return self.local.connection

    def exchange(self, method, path, body=None, content_type="application/json",
                 accept="application/json", raw=None):
        """(status, warnings, text). `raw` is sent as it is; an empty type is not sent at all."""
        connection = self._connection()
        data = raw.encode() if raw is not None else None if body is None else json.dumps(body)
        types = {"Content-Type": content_type, "Accept": accept}
        try:
            connection.request(method, path, body=data, headers={
                **self.headers, **{name: value for name, value in types.items() if value}})
            answer = connection.getresponse()
            return (answer.status, answer.headers.get_all("Warning"),
                    answer.read().decode(errors="replace"))
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.local.connection = None
            raise OSError(f"{method} {path}: {error!r}") from error

    def send(self, method, path, body=None, content_type="application/json"):
        """(status, object)."""
        status, _, text = self.exchange(method, path, body, content_type)
        try:
            return status, json.loads(text)
        except ValueError as error:
            raise OSError(f"{method} {path}: {text[:200]!r}") from error

    def call(self, method, path, body=None, content_type="application/json"):
        status, answer = self.send(method, path, body, content_type)
        if status >= 400:
            raise Refused(status, f"{method} {path}: {answer.get('message')}")
        return answer


def until(what, seconds=60, why=lambda: ""):
    """Polls until what() is true; lost connections count as not yet."""
    end = time.time() + seconds
    while True:
        with contextlib.suppress(OSError):
            if what():
                return
        if time.time() > end:
            raise AssertionError(f"waited {seconds} s in vain; {why()}")
        time.sleep(0.1)


class Cluster:
    """A cluster under test.

    scheduler: command of hekla-scheduler that reaches it; plane: its ControlPlane, None for the
    embedded server.
    """

    def __init__(self, rest, scheduler, plane=None):
        self.rest = rest
        self.scheduler = scheduler
        self.plane = plane


class World:
    """What one scenario makes: a namespace, nodes and what else is cluster-wide; all of it goes at
    the end."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.rest = cluster.rest
        self.ns = "t-" + uuid.uuid4().hex[:8]
        self.wide = []  # paths of cluster-wide objects
        self.folder = tempfile.TemporaryDirectory(prefix="hekla-world-")
        self.starts = 0

    def __enter__(self):
        self.create("/api/v1/namespaces", {"metadata": {"name": self.ns}})
        if self.cluster.plane:  # a controller makes it, and without it there are no pods
            until(lambda: self.rest.send(
                "GET", self.in_namespace("/api/v1", "serviceaccounts/default"))[0] == 200)
        return self

    def __exit__(self, *unused):
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0,
               "propagationPolicy": "Background"}
        pods = self.in_namespace("/api/v1", "pods")
        for path in (self.in_namespace("/apis/apps/v1", "deployments"),
                     self.in_namespace("/apis/batch/v1", "jobs"),
                     self.in_namespace(GROUP, "podgroups"), pods):
            self.rest.send("DELETE", path, now)
        self.rest.send("DELETE", f"/api/v1/namespaces/{self.ns}")
        until(lambda: not self.rest.call("GET", pods)["items"])
        for path in self.wide:
            self.rest.send("DELETE", path)
        self.folder.cleanup()

    def in_namespace(self, api, rest):
        return f"{api}/namespaces/{self.ns}/{rest}"

    def create(self, path, item):
        return self.rest.call("POST", path, item)

    def create_wide(self, path, item):
        self.wide.append(f"{path}/{item['metadata']['name']}")
        return self.create(path, item)

    def create_all(self, path, items):
        list(self.rest.pool.map(lambda item: self.create(path, item), items))

    def add_nodes(self, count, cpu, prefix="n"):
        """Registered as bare objects; the hollow kubelet does the rest."""
        for i in range(count):
            amounts = {"cpu": cpu, "memory": "256Gi", "pods": "110"}
            self.create_wide("/api/v1/nodes", {
                "metadata": {"name": f"{self.ns}-{prefix}{i}", "annotations": FAKE_NODE},
                "status": {"capacity": amounts, "allocatable": amounts}})

    def until_nodes_are_ready(self):
        def ready(node):
            return not node["spec"].get("taints") and any(
                c["type"] == "Ready" and c["status"] == "True"
                for c in node["status"].get("conditions", ()))

        def all_ready():
            nodes = self.rest.call("GET", "/api/v1/nodes")["items"]
            return all(ready(n) for n in nodes if n["metadata"]["name"].startswith(self.ns))
        until(all_ready, 90)

    def add_queue(self, name, weight):
        self.create_wide(f"{GROUP}/queues", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": f"{self.ns}-{name}"}, "spec": {"weight": weight}})
        return f"{self.ns}-{name}"

    def add_priority_class(self, name, value):
        self.create_wide("/apis/scheduling.k8s.io/v1/priorityclasses",
                         {"metadata": {"name": f"{self.ns}-{name}"}, "value": value})
        return f"{self.ns}-{name}"

    def add_pod_group(self, name, members, queue="default", priority_class=""):
        spec = {"minMember": members, "queue": queue}
        if priority_class:
            spec["priorityClassName"] = priority_class
        self.create(self.in_namespace(GROUP, "podgroups"), {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name}, "spec": spec})

    def pod(self, name, group="", cpu="1", **more):
        container = {"name": "main", "image": "busybox",
                     "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
        annotations = {"scheduling.k8s.io/group-name": group} if group else {}
        return {"metadata": {"name": name, "annotations": annotations},
                "spec": {"schedulerName": "volcano", "terminationGracePeriodSeconds": 0,
                         "containers": [container], **more}}

    def add_pods(self, pods):
        self.create_all(self.in_namespace("/api/v1", "pods"), pods)

    def add_gang(self, name, members, cpu="1"):
        self.add_pod_group(name, members)
        self.add_pods([self.pod(f"{name}-{i}", name, cpu) for i in range(members)])

    def pods(self):
        return self.rest.call("GET", self.in_namespace("/api/v1", "pods"))["items"]

    def bound(self, prefix=""):
        """Node of every bound pod."""
        return {p["metadata"]["name"]: p["spec"]["nodeName"] for p in self.pods()
                if p["spec"].get("nodeName") and p["metadata"]["name"].startswith(prefix)}

    def until_bound(self, count, prefix="", seconds=120):
        until(lambda: len(self.bound(prefix)) >= count, seconds,
              lambda: f"{len(self.bound(prefix))} of {count} pods are bound")

    def until_running(self, count, seconds=120):
        def running():
            return sum(p["status"]["phase"] == "Running" for p in self.pods())
        until(lambda: running() >= count, seconds, lambda: f"{running()} of {count} pods run")

    def group(self, name):
        return self.rest.call("GET", self.in_namespace(GROUP, f"podgroups/{name}"))

    def until_group_runs(self, name):
        """It has no status before a scheduler has written one."""
        until(lambda: self.group(name).get("status", {}).get("phase") == "Running")

    def condition_of(self, group, kind):
        for condition in self.group(group).get("status", {}).get("conditions", ()):
            if condition["type"] == kind:
                return condition["message"]
        return ""

    def events_of(self, name, reason):
        """Messages, of both event APIs."""
        events = self.rest.call("GET", self.in_namespace("/api/v1", "events"))["items"]
        return [e["message"] for e in events
                if e["involvedObject"]["name"] == name and e.get("reason") == reason]

    def must_not_be_full(self, cpus):
        """No node holds more than `cpus` pods of one cpu each."""
        per_node = {}
        for node in self.bound().values():
            per_node[node] = per_node.get(node, 0) + 1
        too_many = {node: count for node, count in per_node.items() if count > cpus}
        assert not too_many, f"more pods than cpus: {too_many}"

    def start_scheduler(self, *flags):
        self.starts += 1
        program = Program("hekla-scheduler", [
            *self.cluster.scheduler, "--leader-elect=false", "--debug-address=", "-v=3", *flags],
            os.path.join(self.folder.name, f"scheduler-{self.starts}.log"))
        program.start()
        return program

    def scheduler(self, *flags, may_be_refused=False):
        """Runs it for a while, as `runs_well` says."""
        return runs_well(self.start_scheduler(*flags), 5, may_be_refused)
