#!/usr/bin/env python3
"""Says for how long RayClusters waited for a worker and were worked on.

usage: key_times.py FILE     (the text of /metrics of `heklactl playground --ray --metrics-addr ADDRESS`)
"""
import re
import sys


def read(path):
    times = {"waited": {}, "worked": {}}
    totals = {}
    with open(path, encoding="utf-8") as text:
        for line in text:
            match = re.match(r'hekla_raycluster_(waited|worked)_seconds\{key="([^"]+)"\} (\S+)', line)
            if match:
                times[match.group(1)][match.group(2)] = float(match.group(3))
            match = re.match(r'(controller_runtime_reconcile_total)\{controller="raycluster",result="(\w+)"\} (\S+)',
                             line)
            if match:
                totals[match.group(2)] = int(float(match.group(3)))
    return times, totals


def row(name, values):
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    figures = [min(ordered), at(0.5), at(0.99), max(ordered), sum(ordered)]
    return f"{name:>10}" + "".join(f"{1000 * f:>12.1f}" for f in figures)


def main():
    times, totals = read(sys.argv[1])
    if not times["worked"]:
        print("no RayCluster was worked on", file=sys.stderr)
        return 1
    print(f"{'ms':>10}" + "".join(f"{name:>12}" for name in ("least", "median", "p99", "most", "all keys")))
    for name in ("waited", "worked"):
        print(row(name, times[name].values()))
    print(f"reconciles {sum(totals.values())}: "
          + ", ".join(f"{result} {count}" for result, count in sorted(totals.items()) if count))
    slowest = sorted(times["waited"], key=lambda key: -times["waited"][key])[:3]
    print("longest waits: " + ", ".join(
        f"{key} {1000 * times['waited'][key]:.0f} ms (worked on {1000 * times['worked'].get(key, 0):.0f} ms)"
        for key in slowest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
