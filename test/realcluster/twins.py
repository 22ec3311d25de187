"""The same requests to a real and to the embedded API server: their answers must be equal.

A difference is either mended in the embedded server or listed below with its reason.
"""
import copy
import json
import pathlib
import re

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
REQUESTS = pathlib.Path(__file__).with_name("twins.json")
TYPES = {"merge": MERGE, "json": JSON_PATCH, "strategic": STRATEGIC, "apply": APPLY}

# Name of the request -> why the answers differ.
LISTED = {
    "podgroup of another version": "the real server also warns of the spec, which it did not read",
    "podgroup as xml": "custom kinds have a text of their own for 406",
    "put to the collection": "custom kinds answer 400 where built-in ones answer 405",
    "post to an object": "custom kinds answer 400 where built-in ones answer 405",
    "queue status of a wrong type": "real servers check the value of a wrong type, too",
    "pod bound by a patch": "the text ends with a difference of Go structures",
    "budget with two limits": "the text shows a Go structure",
    "map in a namespace that ends": "an empty namespace ends at once",
}

VARYING = [(re.compile(pattern), replacement) for pattern, replacement in (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"(made-)[bcdfghjklmnpqrstvwxz2456789]{5}", r"\1<name>"),
    (r"in record \(\d+\)", "in record (<version>)"),
    (r"^\d+s$", "<age>"))]
# What differs from run to run, or comes from admission that the embedded server has by an option.
DROPPED = {"resourceVersion", "managedFields", "continue", "serviceAccount", "serviceAccountName",
           "clusterIP", "clusterIPs", "node.alpha.kubernetes.io/ttl"}


def normal(value):
    if isinstance(value, dict):
        if value.get("kind") == "APIResourceList":  # in any order
            value = {**value, "resources": sorted(value["resources"], key=lambda r: r["name"])}
        kept = {key: normal(item) for key, item in value.items() if key not in DROPPED}
        return {key: item for key, item in kept.items() if key != "annotations" or item}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, str):
        for pattern, replacement in VARYING:
            value = pattern.sub(replacement, value)
    return value


def filled(value, variables):
    """The request with $NAMES replaced."""
    text = json.dumps(value)
    for name, known in variables.items():
        text = text.replace(f"${name}", known)
    return json.loads(text)


def answers(rest, requests):
    """name -> (status, warnings, body). `keep` remembers metadata of an answer for later."""
    variables = {}
    out = {}
    for request in copy.deepcopy(requests):
        request = filled(request, variables)
        body = request.get("body")
        kind = TYPES.get(request.get("type"), request.get("type", "application/json"))
        status, headers, text = rest.exchange(request["method"], request["path"], body, kind,
                                              request.get("accept", "application/json"))
        try:
            parsed = [json.loads(line) for line in text.splitlines()] if "watch=" in \
                request["path"] and status == 200 else json.loads(text)
        except ValueError:
            parsed = text
        if request.get("keep") and isinstance(parsed, dict):
            for name in ("uid", "resourceVersion"):
                variables[f"{request['keep']}_{name}"] = parsed["metadata"].get(name, "")
        out[request["name"]] = (status, headers, normal(parsed))
    return out


def paths(left, right, at=""):
    """Where two values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(set(left) | set(right)):
            if key not in left or key not in right:
                yield f"{at}.{key}: {left.get(key, '(absent)')!r} / {right.get(key, '(absent)')!r}"
            else:
                yield from paths(left[key], right[key], f"{at}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for i, (one, other) in enumerate(zip(left, right)):
            yield from paths(one, other, f"{at}[{i}]")
    elif left != right:
        yield f"{at}: {left!r} / {right!r}"


def compare(real, embedded):
    """Prints what differs (real / embedded); returns (requests, listed, unlisted)."""
    requests = json.loads(REQUESTS.read_text(encoding="utf-8"))
    for number, request in enumerate(requests):
        request.setdefault("name", f"{number} {request['method']} {request['path']}")
    ours, theirs = answers(embedded, requests), answers(real, requests)
    listed, unlisted = 0, 0
    for request in requests:
        name = request["name"]
        found = list(paths(list(theirs[name]), list(ours[name])))
        if not found:
            if name in LISTED:
                print(f"   no longer differs: {name}", flush=True)
            continue
        if name in LISTED:
            listed += 1
            continue
        unlisted += 1
        print(f"   differs: {name}")
        for line in found[:8]:
            print(f"      {line[:600]}", flush=True)
    return len(requests), listed, unlisted
