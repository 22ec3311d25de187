"""The chart deploy/helm/hekla on a real API server, with the real helm."""
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
CHART = HERE.parent.parent / "deploy/helm/hekla"
NAMESPACE = "hekla-chart"

# What must be in the chart's objects for a values file; "!" stands before what must not be there.
CASES = {
    "": [
        "image: hekla-scheduler:0.1.0", "--leader-elect=true", "- name: nodeorder",
        "--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf",
        "image: hekla-ray-operator:0.1.0", "kind: ClusterRoleBinding",
        "!trial-ray-operator-batch-scheduler"],
    "volcano-values.yaml": [
        "image: registry.example.com/batch/hekla-scheduler:v2", "imagePullPolicy: Always",
        "- name: registry-credentials", "replicas: 2", "--scheduler-name=batch",
        "--kube-api-qps=500", "--kube-api-burst=700", "--schedule-period=2s", "-v=4",
        "--node-worker-threads=8", "--enable-metrics=true", "--leader-elect=true",
        "--feature-gates=ResourceTopology=true", "- name: binpack", "!- name: nodeorder",
        "disk: ssd", "key: dedicated", "team: research", "runAsUser: 3000", "memory: 1Gi",
        "ipFamilyPolicy: PreferDualStack"],
    "kuberay-values.yaml": [
        "!kind: ConfigMap", "kind: Role\n", "namespace: team-a", "!kind: ClusterRole\n",
        "--watch-namespace=team-a", "--batch-scheduler=volcano", "--reconcile-concurrency=4",
        "--qps=50", "--burst=90", "--feature-gates=RayMultiHostIndexing=false,RayCronJob=false",
        "--log-stdout-encoder=console", "--log-file-path=/var/log/ray/operator.log",
        "sizeLimit: 50Mi", "image: registry.example.com/ray/hekla-ray-operator:v3",
        "name: ray-account"],
}


def must_contain(text, wanted, what):
    for part in wanted:
        absent = part.startswith("!")
        if (part.removeprefix("!") in text) == absent:
            raise AssertionError(f"{what}: {'has' if absent else 'lacks'} {part!r}\n{text}")


def check_monitor(run, helm, kubectl):
    """What a Prometheus operator would watch selects the Service of the operator, and its port."""
    run(*kubectl, "apply", "-f", HERE / "service-monitor-crd.yaml")
    run(*kubectl, "wait", "--for=condition=Established", "crd",
        "servicemonitors.monitoring.coreos.com", "--timeout=60s")
    monitor = "ray_operator.metrics.serviceMonitor"
    text = run(helm, "template", "trial", CHART, "--namespace", NAMESPACE,
               "--set", f"{monitor}.enabled=true,{monitor}.namespace=monitoring",
               "--set", f"{monitor}.interval=1m30s,{monitor}.additionalLabels.release=prom").stdout
    done = run(*kubectl, "apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-",
               input=text)
    made = {item["kind"]: item for item in json.loads(done.stdout)["items"]
            if item["kind"] == "ServiceMonitor"
            or item["metadata"]["name"] == "trial-ray-operator"}
    seen, service = made["ServiceMonitor"], made["Service"]
    endpoint = seen["spec"]["endpoints"][0]
    if (seen["metadata"]["namespace"], seen["metadata"]["labels"]["release"]) != ("monitoring",
                                                                                 "prom"):
        raise AssertionError(f"metadata of the ServiceMonitor: {seen['metadata']}")
    if seen["spec"]["namespaceSelector"] != {"matchNames": [service["metadata"]["namespace"]]}:
        raise AssertionError(f"namespaces of the ServiceMonitor: {seen['spec']}")
    wanted = seen["spec"]["selector"]["matchLabels"].items()
    if not wanted <= service["metadata"]["labels"].items():
        raise AssertionError(f"{wanted} does not select {service['metadata']}")
    if endpoint["port"] not in [port["name"] for port in service["spec"]["ports"]]:
        raise AssertionError(f"no such port: {endpoint}")
    if (endpoint["interval"], endpoint["honorLabels"]) != ("1m30s", True):
        raise AssertionError(f"endpoint of the ServiceMonitor: {endpoint}")


def check(run, helm, kubeconfig):
    """`run` runs a command and gives its output; see realcluster_test.py."""
    kubectl = "kubectl", "--kubeconfig", kubeconfig
    run(helm, "lint", "--strict", CHART)
    for namespace in (NAMESPACE, "team-a", "monitoring"):
        run(*kubectl, "create", "namespace", namespace)
    check_monitor(run, helm, kubectl)
    for values, wanted in CASES.items():
        flags = ("--values", HERE / values) if values else ()
        text = run(helm, "template", "trial", CHART, "--namespace", NAMESPACE, *flags).stdout
        must_contain(text, wanted, values or "default values")
        done = run(*kubectl, "apply", "--dry-run=server", "--validate=strict", "-f", "-",
                   input=text)
        made = len(re.findall(r"^kind:", text, re.M))
        if len(done.stdout.splitlines()) != made or "Warning" in done.stderr:
            raise AssertionError(f"{values}: {made} objects\n{done.stdout}{done.stderr}")
    on_cluster = "--kubeconfig", kubeconfig, "--namespace", NAMESPACE
    # Not "hekla": helm does not take over the roles that config/ made under those names.
    run(helm, "install", "second", CHART, "--dry-run=server", *on_cluster)
    done = run(helm, "install", "second", CHART, *on_cluster, "--set",
               "custom.admission_replicas=3")
    must_contain(done.stdout, ["Given and without effect: custom.admission_replicas"], "notes")
    roles = json.loads(run(*kubectl, "get", "clusterroles", "-o", "json").stdout)["items"]
    rules = {role["metadata"]["name"]: role["rules"] for role in roles}
    for program in ("scheduler", "ray-operator"):
        if rules[f"second-{program}"] != rules[f"hekla-{program}"]:
            raise AssertionError(f"the chart's rights of {program} are not those of config/rbac")
    run(helm, "upgrade", "second", CHART, *on_cluster, "--set", "basic.image_tag_version=v9")
    image = ("get", "deployment", "second-scheduler", "--namespace", NAMESPACE, "-o",
             "jsonpath={.spec.template.spec.containers[0].image}")
    must_contain(run(*kubectl, *image).stdout, [":v9"], "upgrade")
    run(helm, "rollback", "second", "1", *on_cluster)
    must_contain(run(*kubectl, *image).stdout, [":0.1.0"], "rollback")
    run(helm, "uninstall", "second", *on_cluster)
    left = run(*kubectl, "get", "deployments,configmaps,serviceaccounts", "--namespace", NAMESPACE,
               "-l", "app.kubernetes.io/instance=second", "-o", "name").stdout
    if left:
        raise AssertionError(f"left after uninstall: {left}")
