"""What a scheduler must do, on any API server: run by realcluster_test.py and embedded_test.py."""
import signal
import time
import unittest

from cluster import GROUP, World, until

# So that binding takes seconds, and something can happen in between.
SLOWLY = "--kube-api-qps=60", "--kube-api-burst=30"


class Scenarios(unittest.TestCase):
    cluster = None  # set by who runs this

    def setUp(self):
        self.world = World(self.cluster)
        self.addCleanup(self.world.__exit__)
        self.world.__enter__()

    def needs_real_server(self):
        if not self.cluster.plane:
            self.skipTest("needs what a real control plane has")

    def test_gang_of_three_waits_on_two_slots_and_starts_on_the_third(self):
        world = self.world
        world.add_nodes(2, "1500m")  # together 3 cpu, but room for one pod each
        world.until_nodes_are_ready()
        world.add_gang("train", 3)
        with world.scheduler():
            until(lambda: "2 Insufficient cpu" in world.condition_of("train", "Unschedulable"),
                  why=lambda: world.condition_of("train", "Unschedulable"))
            message = world.condition_of("train", "Unschedulable")
            self.assertIn("1/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, "
                          "3 minAvailable; Pending: 1 Unschedulable, 2 Schedulable.", message)
            self.assertIn("0/2 nodes are unavailable: 2 Insufficient cpu.", message)
            self.assertEqual(world.bound(), {})
            until(lambda: world.events_of("train", "Unschedulable"))
            world.add_nodes(1, "1500m", "later")
            world.until_bound(3)
            world.until_running(3)
            world.until_group_runs("train")
        self.assertEqual(len(set(world.bound().values())), 3)

    def test_gang_of_thousand(self):
        world = self.world
        world.add_nodes(100, "10")
        world.until_nodes_are_ready()
        times = [time.time()]
        world.add_gang("wide", 1000)
        times.append(time.time())
        with world.scheduler():
            world.until_bound(1000)
            times.append(time.time())
            world.until_running(1000)
            times.append(time.time())
            created, bound, running = (b - a for a, b in zip(times, times[1:]))
            print(f"   1,000 pods: created in {created:.1f} s, bound {bound:.1f} s after the "
                  f"scheduler's start, all running {running:.1f} s later", flush=True)
            world.until_group_runs("wide")
        world.must_not_be_full(10)

    def test_two_queues_share_by_weight(self):
        """16 cpu are free; queues of weight 1 and 3 both want all of it: 4 and 12."""
        world = self.world
        world.add_nodes(4, "4")
        world.until_nodes_are_ready()
        for queue, weight in (("small", 1), ("large", 3)):
            name = world.add_queue(queue, weight)
            for i in range(16):
                world.add_pod_group(f"{queue}-{i}", 1, name)
            world.add_pods([world.pod(f"{queue}-{i}", f"{queue}-{i}") for i in range(16)])
        with world.scheduler():
            world.until_bound(16)
            time.sleep(2)  # nobody comes after them
        self.assertEqual((len(world.bound("small")), len(world.bound("large"))), (4, 12))

    def test_higher_priority_goes_first(self):
        world = self.world
        world.add_nodes(1, "2")
        world.until_nodes_are_ready()
        for priority, value in (("low", 10), ("high", 1000)):
            name = world.add_priority_class(priority, value)
            for i in range(2):
                world.add_pod_group(f"{priority}-{i}", 1, priority_class=name)
                world.add_pods([world.pod(f"{priority}-{i}", f"{priority}-{i}",
                                          priorityClassName=name)])
        with world.scheduler():
            world.until_bound(2)
        self.assertEqual(len(world.bound("high")), 2)

    def test_pod_without_a_group_is_a_gang_of_one(self):
        world = self.world
        world.add_nodes(1, "4")
        world.until_nodes_are_ready()
        world.add_pods([world.pod("alone")])
        with world.scheduler():
            world.until_running(1)
            until(lambda: world.events_of("alone", "Scheduled"))
        self.assertIn(f"Successfully assigned {world.ns}/alone to {world.ns}-n0",
                      world.events_of("alone", "Scheduled")[0])
        self.assertEqual(self.cluster.rest.call("GET", f"{GROUP}/queues/default")["kind"], "Queue")

    def test_pods_of_others_are_left_alone_but_take_room(self):
        world = self.world
        world.add_nodes(1, "2")
        world.until_nodes_are_ready()
        foreign = world.pod("foreign", nodeName=f"{world.ns}-n0")
        del foreign["spec"]["schedulerName"]
        world.add_pods([foreign])
        world.add_gang("pair", 2)
        with world.scheduler():
            until(lambda: "1 Insufficient cpu" in world.condition_of("pair", "Unschedulable"))
        self.assertEqual(world.bound("pair"), {})

    def test_group_deleted_midway(self):
        world = self.world
        world.add_nodes(20, "10")
        world.until_nodes_are_ready()
        world.add_gang("crew", 200)
        with world.scheduler(*SLOWLY):
            world.until_bound(20)
            world.rest.call("DELETE", world.in_namespace(GROUP, "podgroups/crew"))
            self.assertLess(len(world.bound()), 200)
            time.sleep(1)
            world.add_pod_group("crew", 200)
            world.until_bound(200)
            world.until_running(200)
            world.until_group_runs("crew")
        world.must_not_be_full(10)

    def binding_interrupted(self, interrupt, server_restarts=False):
        """A gang is being bound when `interrupt` comes, and is bound whole afterwards."""
        world = self.world
        world.add_nodes(40, "10")
        world.until_nodes_are_ready()
        world.add_gang("gang", 400)
        # An API server that has just started refuses everything until it has read its roles.
        with world.scheduler(*SLOWLY, may_be_refused=server_restarts) as scheduler:
            world.until_bound(40)
            self.assertLess(len(world.bound()), 400)
            interrupt(scheduler)
            world.until_bound(400)
            world.until_running(400)
            world.until_group_runs("gang")
        world.must_not_be_full(10)

    def test_scheduler_killed_midway(self):
        def interrupt(scheduler):
            scheduler.stop(signal.SIGKILL)
            scheduler.start()
        self.binding_interrupted(interrupt)

    def killed_midway(self, program, patience, server_restarts=False):
        def interrupt(_):
            program.stop(signal.SIGKILL)
            time.sleep(2)
            program.start()
            self.cluster.plane.until_ready(patience)
        self.binding_interrupted(interrupt, server_restarts)

    def test_etcd_killed_midway(self):
        self.needs_real_server()
        self.killed_midway(self.cluster.plane.etcd, 60)

    def test_apiserver_killed_midway(self):
        self.needs_real_server()
        self.killed_midway(self.cluster.plane.apiserver, 90, server_restarts=True)

    def test_apiserver_stopped_in_order_midway(self):
        self.needs_real_server()
        plane = self.cluster.plane

        def interrupt(_):
            began = time.time()
            code = plane.apiserver.stop(patience=90)
            print(f"   the API server ended with {code} in {time.time() - began:.1f} s", flush=True)
            plane.apiserver.start()
            plane.until_ready(90)
        self.binding_interrupted(interrupt, server_restarts=True)

    def test_another_leader_takes_over(self):
        world = self.world
        world.add_nodes(1, "8")
        world.until_nodes_are_ready()
        self.cluster.rest.send("POST", "/api/v1/namespaces",
                               {"metadata": {"name": "volcano-system"}})
        election = ("--leader-elect=true", "--leader-elect-lease-duration=4s",
                    "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms",
                    f"--leader-elect-resource-name={world.ns}")
        first = world.start_scheduler(*election)
        try:
            world.add_gang("one", 2)
            world.until_bound(2)
            with world.scheduler(*election):
                first.stop(signal.SIGKILL)
                world.add_gang("two", 2)
                world.until_bound(4)
        finally:
            first.stop(signal.SIGKILL)
        self.cluster.rest.call("DELETE", "/apis/coordination.k8s.io/v1/namespaces/volcano-system"
                               f"/leases/{world.ns}")

    def test_deployment_and_job_of_the_controllers(self):
        """Pods made by Kubernetes' own controllers, with owners and names of theirs."""
        self.needs_real_server()
        world = self.world
        world.add_nodes(2, "8")
        world.until_nodes_are_ready()
        template = {"metadata": {"labels": {"app": "web"}}, "spec": world.pod("x")["spec"]}
        world.create(world.in_namespace("/apis/apps/v1", "deployments"), {
            "metadata": {"name": "web"},
            "spec": {"replicas": 6, "selector": {"matchLabels": {"app": "web"}},
                     "template": template}})
        brief = {"metadata": {"annotations": {"hekla.dev/run-seconds": "1"}},
                 "spec": {**world.pod("x")["spec"], "restartPolicy": "Never"}}
        world.create(world.in_namespace("/apis/batch/v1", "jobs"), {
            "metadata": {"name": "brief"},
            "spec": {"completions": 4, "parallelism": 2, "template": brief}})
        web = world.in_namespace("/apis/apps/v1", "deployments/web")
        job = world.in_namespace("/apis/batch/v1", "jobs/brief")
        with world.scheduler():
            until(lambda: world.rest.call("GET", web)["status"].get("readyReplicas") == 6, 90)
            until(lambda: world.rest.call("GET", job)["status"].get("succeeded") == 4, 90)
            world.rest.call("PATCH", web, {"spec": {"replicas": 3}},
                            "application/merge-patch+json")
            until(lambda: len(world.bound("web")) == 3, 90)
