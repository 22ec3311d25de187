"""What all checks share: the list of files, their text, and how findings are printed."""
import json
import os
import subprocess
import sys

SKIPPED_FOLDERS = {"build", ".git", ".cache", "__pycache__", "node_modules"}
CPP = (".h", ".cc")


def tree_files(root):
    """Paths below root, relative, sorted: what git tracks or would track, else what is there."""
    try:
        out = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True).stdout.decode()
        top = subprocess.run(["git", "-C", root, "rev-parse", "--show-prefix"],
                             capture_output=True, check=True).stdout.decode().strip()
        if top == "":
            return sorted({p for p in out.split("\0") if p and os.path.isfile(os.path.join(root, p))})
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def cpp_files(root):
    return [p for p in tree_files(root) if p.endswith(CPP)]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def is_test(path):
    """Test code: beside the code, in a testing/ folder, or below test/."""
    return (path.endswith("_test.cc") or path.endswith("_bench.cc") or "/testing/" in path
            or path.startswith(("test/", "bench/")))


def exempt_from_sizes(text):
    """Generated code and data tables say so in a comment of their first ten lines, with a reason."""
    for line in text.split("\n", 10)[:10]:
        for mark in ("// Generated: ", "// Data: "):
            if line.startswith(mark) and len(line) > len(mark):
                return True
    return False


def root_argument():
    """The tree to check: the first argument, else the one this file lies in."""
    if len(sys.argv) > 1:
        return os.path.abspath(sys.argv[1])
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def report(name, findings, checked):
    """Prints findings as file:line: text and gives the exit code."""
    for finding in findings:
        print(finding)
    print(f"{name}: {checked} files, {len(findings)} findings")
    return 1 if findings else 0


def load_stamps(path):
    """Keys of what an earlier run found good; none without a file. Only .json files are taken, so that
    a source given by mistake is not overwritten."""
    if path and not path.endswith(".json"):
        sys.exit(f"the file for stamps must end with .json: {path}")
    try:
        with open(path, encoding="utf-8") as f:
            return set(json.load(f))
    except (OSError, ValueError, TypeError):
        return set()


def save_stamps(path, keys):
    if path:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(sorted(keys), f)
