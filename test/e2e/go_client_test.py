#!/usr/bin/env python3
"""Runs the session of Go's typed client (goclient/) against heklactl playground.

usage: go_client_test.py HEKLACTL
Says that it was left out, and passes, where `scripts/setup.sh --e2e` has not built it.
"""
import os
import subprocess
import sys

from playground import Playground

PROGRAM = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../build/e2e/goclient"))


def main():
    if not os.path.exists(PROGRAM):
        print("left out: no Go client (scripts/setup.sh --e2e builds it where Go is found)")
        return 0
    with Playground(sys.argv[1], "--nodes", "1", "--gpu", "0") as world:
        return subprocess.run([PROGRAM, world.kubeconfig], timeout=240).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
