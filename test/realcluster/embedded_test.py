#!/usr/bin/env python3
"""The scenarios of scenarios.py against the embedded API server.

usage: embedded_test.py HEKLACTL SCHEDULER [unittest's arguments]
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))

from cluster import Cluster, Rest  # noqa: E402
from playground import Playground  # noqa: E402
from scenarios import Scenarios  # noqa: E402


def main():
    heklactl, scheduler, *rest = sys.argv[1:]
    with Playground(heklactl, "--no-scheduler", "--nodes", "0") as world:
        Scenarios.cluster = Cluster(Rest(world.server()),
                                    [scheduler, "--kubeconfig", world.kubeconfig])
        suite = unittest.main(argv=[sys.argv[0], "-v", *rest], exit=False,
                              warnings="ignore")
        return 0 if suite.result.wasSuccessful() else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main())
