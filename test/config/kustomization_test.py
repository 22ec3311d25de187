#!/usr/bin/env python3
"""config/kustomization.yaml names every file of config/crd, rbac and deploy, and renders; the
Containerfile copies what exists and runs as a user that is not root.
usage: kustomization_test.py REPOSITORY"""
import pathlib
import re
import shutil
import subprocess
import sys


def findings(root):
    config = root / "config"
    listed = re.findall(r"^- (\S+)$", (config / "kustomization.yaml").read_text(), re.M)
    present = sorted(str(f.relative_to(config)) for d in ("crd", "rbac", "deploy")
                     for f in (config / d).glob("*.yaml"))
    for name in sorted(set(present) ^ set(listed)):
        yield f"config/kustomization.yaml: {name} is listed or present, not both"
    if shutil.which("kubectl"):
        done = subprocess.run(["kubectl", "kustomize", str(config)], capture_output=True, text=True)
        written = sum(len(re.findall(r"^kind:", (config / f).read_text(), re.M)) for f in present)
        rendered = len(re.findall(r"^kind:", done.stdout, re.M))
        if done.returncode != 0:
            yield f"kubectl kustomize config: {done.stderr.strip()}"
        elif written != rendered:
            yield f"kubectl kustomize config: {rendered} objects of {written}"
    text = (root / "Containerfile").read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", text, re.M)
    names = {name for _, name in stages}
    for image, name in stages:
        if "/" not in image and image not in names:
            yield f"Containerfile: stage {name} starts from the unknown stage {image}"
    for source in re.findall(r"^COPY (?!--from)(\S+) ", text, re.M):
        if not (root / source).exists():
            yield f"Containerfile: copies {source}, which does not exist"
    for program in re.findall(r"build/release/bin/(\S+) /", text):
        folder = root / "cmd" / program.removeprefix("hekla-")
        if not folder.is_dir():
            yield f"Containerfile: copies the unknown program {program}"
    users = re.findall(r"^USER (\S+)$", text, re.M)
    if not users or users[-1].startswith(("0", "root")):
        yield "Containerfile: runs as root"


def main():
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
