#!/usr/bin/env python3
"""Plays kubectl_session.txt against heklactl playground, or against any cluster.

usage: kubectl_session_test.py HEKLACTL
       kubectl_session_test.py --kubeconfig FILE
"""
import dataclasses
import pathlib
import shlex
import subprocess
import sys
import uuid

from playground import Playground, need_kubectl

SESSION = pathlib.Path(__file__).with_name("kubectl_session.txt")


@dataclasses.dataclass
class Step:
    line: int
    command: str
    stdin: str = ""
    code: int = 0
    present: list = dataclasses.field(default_factory=list)
    absent: list = dataclasses.field(default_factory=list)


def steps(text):
    lines = iter(enumerate(text.splitlines(), 1))
    step = None
    for number, line in lines:
        kind, rest = line[:1], line[2:]
        if kind == "$":
            if step:
                yield step
            step = Step(number, rest)
            if rest.endswith("<<"):
                step.command = rest[:-2]
                body = []
                for _, line in lines:
                    if line == ".":
                        break
                    body.append(line)
                step.stdin = "\n".join(body)
        elif kind == "!":
            step.code = int(rest)
        elif kind == "~":
            step.present.append(rest)
        elif kind == "^":
            step.absent.append(rest)
        elif line and kind != "#":
            raise ValueError(f"{SESSION.name}:{number}: not understood: {line}")
    yield step


def words(command):
    """Double quotes keep blanks together, except inside JSON."""
    if "{\"" in command or "[{" in command:
        return command.split(" ")
    return shlex.split(command)


def wrong(step, done):
    output = done.stdout + done.stderr
    if done.returncode != step.code:
        yield f"exit code {done.returncode} instead of {step.code}"
    yield from (f"does not say: {text}" for text in step.present if text not in output)
    yield from (f"says: {text}" for text in step.absent if text in output)


def play(kubeconfig):
    namespace = "ks-" + uuid.uuid4().hex[:8]
    played = failed = 0
    for step in steps(SESSION.read_text().replace("$NS", namespace)):
        done = subprocess.run(["kubectl", "--kubeconfig", kubeconfig, *words(step.command.strip())],
                              input=step.stdin, capture_output=True, text=True, timeout=60)
        played += 1
        findings = list(wrong(step, done))
        if findings:
            failed += 1
            print(f"{SESSION.name}:{step.line}: kubectl {step.command}")
            print("".join(f"    {finding}\n" for finding in findings), end="")
            print("".join(f"    | {line}\n" for line in (done.stdout + done.stderr).splitlines()[:8]))
    print(f"commands={played} failed={failed}")
    return 1 if failed else 0


def main():
    need_kubectl()
    if len(sys.argv) == 3 and sys.argv[1] == "--kubeconfig":
        return play(sys.argv[2])
    with Playground(sys.argv[1], "--nodes", "1", "--gpu", "0") as world:
        return play(world.kubeconfig)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
