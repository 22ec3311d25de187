#!/usr/bin/env python3
"""Who may include whom, and where third-party headers may appear.

usage: check_includes.py [ROOT]
The table below is the rule; the product is checked with it, tests may include any library.
"""
import re
import sys

import source_tree

# Folder below pkg/ -> folders below pkg/ it may include. `util` and the folder itself are open.
# A longer prefix wins. "*" is anything but sim.
ALLOWED = {
    "util": [],
    "metrics": [],
    "http": [],
    "apis": [],
    "model": [],
    "yaml": ["apis/json"],
    "kube": ["apis", "http", "metrics"],
    "kube/config": ["kube", "apis", "http", "metrics", "yaml"],
    "controller": ["kube", "apis", "http", "metrics"],
    "apiserver": ["apis", "http", "metrics", "yaml"],
    "ports": ["model"],
    "framework": ["ports", "model", "metrics", "apis/json"],
    "plugins": ["framework", "ports", "model", "metrics", "apis/json"],
    "actions": ["framework", "ports", "model", "metrics", "apis/json"],
    "conf": ["framework", "yaml", "apis/json"],
    "cache": ["ports", "model", "kube", "apis", "http", "metrics"],
    "scheduler": ["framework", "conf", "metrics", "ports", "model"],
    "ray": ["controller", "kube", "apis", "http", "metrics"],
    "workload": ["controller", "kube", "apis", "http", "metrics"],
    "assembly": ["*"],
    "sim": ["*"],
}

# Third-party header prefixes -> where they may appear. Everything else is free.
CONFINED = [
    (("rapidjson/",), re.compile(r"^pkg/apis/json/[^/]+\.cc$"), "pkg/apis/json/*.cc"),
    (("yaml-cpp/",), re.compile(r"^pkg/yaml/[^/]+\.cc$"), "pkg/yaml/*.cc"),
    (("cpprest/", "pplx/", "boost/"), re.compile(r"^pkg/http/[^/]+\.(cc|inc)$"), "pkg/http/*.cc"),
    (("gflags/",), re.compile(r"^cmd/[^/]+/options\.cc$"), "cmd/*/options.cc"),
]
FLAG_USE = re.compile(r"\b(FLAGS_\w+|DEFINE_(?:bool|string|int32|int64|uint32|uint64|double)\()")
LOGGING = "pkg/util/logging.cc"  # hands klog's flags to glog's
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_of(folder):
    """The longest rule that covers a folder of pkg/."""
    best = None
    for rule in ALLOWED:
        if below(folder, rule) and (best is None or len(rule) > len(best)):
            best = rule
    return best


def sibling_rule(path, target):
    """Plugins and actions: one folder never includes a sibling, only its own and common/."""
    parts, target_parts = path.split("/"), target.split("/")
    if parts[0] not in ("plugins", "actions") or target_parts[0] != parts[0]:
        return True
    if len(parts) == 2:  # the registry lists them all
        return True
    if len(target_parts) == 2:  # shared files of the parent: never the registry
        return not target_parts[1].startswith("registry")
    return target_parts[1] in (parts[1], "common")


def may_include(path, target):
    """Both paths are files below pkg/ (without `pkg/`)."""
    folder, target_folder = path.rsplit("/", 1)[0], target.rsplit("/", 1)[0]
    rule = rule_of(folder)
    if rule is None:
        return False
    top = rule.split("/")[0]
    if below(target_folder, "util"):
        return True
    if below(target_folder, top):
        return sibling_rule(path, target)
    allowed = ALLOWED[rule]
    if "*" in allowed:
        return top == "sim" or not below(target_folder, "sim")
    return any(below(target_folder, a) for a in allowed)


def cmd_may_include(path, target):
    """path is a file of cmd/. Wiring and heklactl's subcommands join things; the rest stays small."""
    if re.match(r"^cmd/[^/]+/wiring\.cc$", path) or path.startswith("cmd/heklactl/"):
        return path.startswith("cmd/heklactl/") or not below(target, "pkg/apiserver")
    return target.startswith(path.rsplit("/", 1)[0] + "/") or any(
        below(target, "pkg/" + library) for library in ("util", "http", "metrics", "apis/json", "ray/config"))


def check_file(path, text):
    findings = []
    test = source_tree.is_test(path)
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}:"
        match = INCLUDE.match(line)
        if not match:
            if path.startswith("pkg/") and path != LOGGING and not test and FLAG_USE.search(line.split("//")[0]):
                findings.append(f"{where} flags belong to cmd/; pass an options struct")
            continue
        target = match.group(2)
        for prefixes, place, name in CONFINED:
            if target.startswith(prefixes) and not place.match(path):
                findings.append(f"{where} {target} may be included only in {name}")
        if match.group(1) == "<":
            continue
        if path.startswith("pkg/") and target.startswith("cmd/"):
            findings.append(f"{where} pkg never includes cmd")
        elif target.startswith("pkg/") and path.startswith("pkg/") and not test:
            if not may_include(path[4:], target[4:]):
                findings.append(f"{where} {path.rsplit('/', 1)[0]} must not include {target}")
        elif path.startswith("cmd/") and not test and target.startswith(("pkg/", "cmd/")):
            if not cmd_may_include(path, target):
                findings.append(f"{where} only wiring.cc joins libraries: {target}")
        elif target.startswith((".", "/")):
            findings.append(f"{where} include paths start at the root of the repository")
    return findings


def main():
    root = source_tree.root_argument()
    files = source_tree.cpp_files(root)
    findings = []
    for path in files:
        findings += check_file(path, source_tree.read(root, path))
    return source_tree.report("includes", findings, len(files))


if __name__ == "__main__":
    sys.exit(main())
