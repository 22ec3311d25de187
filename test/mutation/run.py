#!/usr/bin/env python3
"""Plants known bugs one at a time and shows that the simulation catches each.

usage: test/mutation/run.py [--check] [--build DIR] [--steps N] [--ray-steps N] [--seeds N] [--first N]
                            [NAME...]
  --check   only see that every patch of test/mutation applies
  --build   a built folder (build/dev)
  NAME...   only these patches ("skip-assume"); without names also the tree as it is, which must be clean

A patch names in its lines before the diff what it breaks ("Bug: ...") and who is to notice
("Caught by: rule", or several, separated by commas), and the program that looks on where that is not
simulation_test ("Test: sim_ray_test"). Sources are changed in place, one file at a time, and put
back whatever happens.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "test" / "mutation"
TARGETS = ("simulation_test", "sim_ray_test")


class Mutant:
    def __init__(self, path):
        self.name = path.stem
        self.path = path
        text = path.read_text()
        self.bug = self.field(text, "Bug")
        self.expected = [rule.strip() for rule in self.field(text, "Caught by").split(",")]
        test = re.search(r"^Test: (\S+)$", text, re.M)
        self.test = test.group(1) if test else TARGETS[0]
        if self.test not in TARGETS:
            sys.exit(f"{path}: {self.test} is none of {', '.join(TARGETS)}")
        self.files = re.findall(r"^\+\+\+ b/(\S+)$", text, re.M)

    def field(self, text, name):
        found = re.search(rf"^{name}: (.+)$", text, re.M)
        if not found:
            sys.exit(f"{self.path}: no line \"{name}: ...\"")
        return found.group(1).strip()

    def apply(self, *options):
        return subprocess.run(["git", "apply", *options, str(self.path)], cwd=ROOT, text=True,
                              capture_output=True)

    def problem(self):
        if len(self.files) != 1:
            return f"touches {len(self.files)} files, one is allowed"
        result = self.apply("--check")
        return result.stderr.strip() if result.returncode else ""


def build(options, *targets):
    result = subprocess.run(["cmake", "--build", options.build, "--target", *targets], cwd=ROOT,
                            text=True, capture_output=True)
    return "" if result.returncode == 0 else (result.stdout + result.stderr)[-3000:]


def simulate(options, target):
    """Returns the rules that were broken, in order; "crash" where the program did not end by itself."""
    environment = dict(os.environ, HEKLA_SIMULATION_STEPS=str(options.steps), GLOG_minloglevel="3",
                       HEKLA_SIMULATION_SEEDS=str(options.seeds),
                       HEKLA_SIMULATION_FIRST=str(options.first),
                       HEKLA_RAY_FUZZ_STEPS=str(options.ray_steps),
                       GTEST_FILTER="*.NothingIsFound:*.NothingIsFoundUnderFaults")
    try:
        result = subprocess.run([str(ROOT / options.build / "bin" / target)], cwd=ROOT, text=True,
                                env=environment, capture_output=True, timeout=900, errors="replace")
    except subprocess.TimeoutExpired:
        return ["no end"]
    if result.returncode == 0:
        return []
    rules = []
    for line in re.findall(r"^  \"(.*)\"$|^ +Which is: \"(.*)\"$|^\s*([a-z-]+: .*)$", result.stdout, re.M):
        for piece in "".join(line).split("\\n"):
            found = re.match(r"([a-z][a-z-]+): ", piece)
            if found and found.group(1) not in rules and found.group(1) != "again":
                rules.append(found.group(1))
    if not rules:
        rules.append("crash" if result.returncode < 0 else "failed")
    return rules


def judge(mutant, options):
    source = ROOT / mutant.files[0]
    before = source.read_bytes()
    start = time.time()
    try:
        if mutant.apply().returncode:
            return False, "does not apply"
        error = build(options, mutant.test)
        if error:
            return False, f"does not build:\n{error}"
        rules = simulate(options, mutant.test)
    finally:
        source.write_bytes(before)
    seconds = time.time() - start
    if not rules:
        return False, f"NOT CAUGHT in {seconds:.0f} s"
    expected = any(rule in mutant.expected for rule in rules)
    return expected, f"{', '.join(rules)} in {seconds:.0f} s" + (
        "" if expected else f"; expected was {', '.join(mutant.expected)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--steps", type=int, default=24000)
    parser.add_argument("--seeds", type=int, default=120)
    parser.add_argument("--ray-steps", type=int, default=200000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    mutants = [Mutant(path) for path in sorted(FOLDER.glob("*.patch"))]
    problems = [f"{m.path.relative_to(ROOT)}: {m.problem()}" for m in mutants if m.problem()]
    if problems:
        sys.exit("\n".join(problems))
    if options.check:
        print(f"{len(mutants)} patches apply")
        return 0
    unknown = set(options.names) - {m.name for m in mutants}
    if unknown:
        sys.exit(f"no such patch: {', '.join(sorted(unknown))}")
    missed = 0
    try:
        if not options.names:
            error = build(options, *TARGETS)
            rules = [error] if error else [rule for t in TARGETS for rule in simulate(options, t)]
            print(f"{'(unchanged)':<24} {'clean' if not rules else ', '.join(rules)}", flush=True)
            missed += bool(rules)
        for mutant in mutants:
            if options.names and mutant.name not in options.names:
                continue
            caught, text = judge(mutant, options)
            print(f"{mutant.name:<24} {text}", flush=True)
            missed += not caught
    finally:
        build(options, *TARGETS)
    print("everything is as it should be" if missed == 0 else f"{missed} are not as they should be")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
