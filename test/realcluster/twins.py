"""The same requests to a real and to the embedded API server: their answers must be equal.

A difference is either mended in the embedded server or listed below with its reason.
"""
import concurrent.futures
import json
import pathlib
import re
import time

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
REQUESTS = pathlib.Path(__file__).with_name("twins.json")
# A file per group of requests, which has namespaces of its own; groups run side by side.
GROUPS = pathlib.Path(__file__).with_name("twins")
LISTED_IN_GROUPS = "listed.json"  # reason -> names of requests as "group: name"
AT_A_TIME = 6
TYPES = {"merge": MERGE, "json": JSON_PATCH, "strategic": STRATEGIC, "apply": APPLY}

# Name of the request -> why the answers differ.
LISTED = {
    "podgroup of another version": "the real server also warns of the spec, which it did not read",
    "post to an object": "custom kinds answer 400 where built-in ones answer 405",
    "queue status of a wrong type": "real servers check the value of a wrong type, too",
    "pod bound by a patch": "the text ends with a difference of Go structures",
    "budget with two limits": "the text shows a Go structure",
    "map in a namespace that ends": "an empty namespace ends at once",
}

VARYING = [(re.compile(pattern), replacement) for pattern, replacement in (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"(made-|l{58})[bcdfghjklmnpqrstvwxz2456789]{5}", r"\1<name>"),
    (r"in record \(\d+\)", "in record (<version>)"),
    (r"current: \d+", "current: <version>"),
    (r"(ResourceVersion in object meta: )\d+", r"\1<version>"),
    (r'(\\"resourceVersion\\":\\")\d+', r"\1<version>"),
    (r"127\.0\.0\.1:\d+", "<address>"),
    (r"^(\d+[smhdy])+$", "<age>"))]
BY_CHANCE = 3
# What differs from run to run, or comes from admission that the embedded server has by an option.
DROPPED = {"resourceVersion", "managedFields", "continue", "serviceAccount", "serviceAccountName",
           "clusterIP", "clusterIPs", "node.alpha.kubernetes.io/ttl"}


def of_controller(item):
    """Whether it is, or an event tells of, the map that a controller puts into every namespace."""
    if not isinstance(item, dict):
        return False
    shown = item.get("object") if isinstance(item.get("object"), dict) else item
    return (shown.get("metadata") or {}).get("name") == "kube-root-ca.crt"


def normal(value):
    if isinstance(value, dict):
        if value.get("kind") == "APIResourceList":  # in any order
            value = {**value, "resources": sorted(value["resources"], key=lambda r: r["name"])}
        kept = {key: normal(item) for key, item in value.items() if key not in DROPPED}
        return {key: item for key, item in kept.items() if key != "annotations" or item}
    if isinstance(value, list):
        return [normal(item) for item in value if not of_controller(item)]
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


def content_of(request, text, status):
    """A watch's events, a JSON value, or the text as it is."""
    try:
        if "watch" in request["path"] and status == 200 and text.startswith("{"):
            return [json.loads(line) for line in text.splitlines()]
        return json.loads(text)
    except ValueError:
        return text


def answers(rest, requests):
    """name -> (status, warnings, body). `keep` remembers metadata of an answer for later."""
    variables = {}
    out = {}
    for request in requests:
        if request["method"] == "SLEEP":
            time.sleep(request["seconds"])
            continue
        name = request["name"]
        request = filled(request, variables)
        kind = TYPES.get(request.get("type"), request.get("type", "application/json"))
        status, headers, text = rest.exchange(
            request["method"], request["path"], request.get("body"), kind,
            request.get("accept", "application/json"), request.get("raw"))
        parsed = content_of(request, text, status)
        if request.get("keep") and isinstance(parsed, dict):
            for field in ("uid", "resourceVersion", "continue"):
                known = parsed.get("metadata", {}).get(field, "")
                variables[f"{request['keep']}_{field}"] = str(known)
        out[name] = (status, headers, normal(parsed))
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


def read_groups():
    """group -> requests; that of twins.json has no name."""
    groups = {"": json.loads(REQUESTS.read_text(encoding="utf-8"))}
    for path in sorted(GROUPS.glob("*.json")):
        if path.name != LISTED_IN_GROUPS:
            groups[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    for requests in groups.values():
        for number, request in enumerate(requests):
            request.setdefault("name", f"{number} {request['method']} {request['path']}")
    return groups


def read_listed():
    """Full names of the requests whose answers may differ."""
    reasons = json.loads((GROUPS / LISTED_IN_GROUPS).read_text(encoding="utf-8"))
    return set(LISTED) | {name for names in reasons.values() for name in names}


def lags(real, embedded):
    """Whether only the real server had no news for a watch: its cache follows the writes of other
    kinds late where etcd tells no progress. That comes and goes from run to run."""
    told = "ResourceVersionTooLarge"
    return told in json.dumps(real) and told not in json.dumps(embedded)


def compare(real, embedded):
    """Prints what differs (real / embedded); returns (requests, listed, unlisted). Of the groups
    up to BY_CHANCE answers may differ: the real server's controllers and caches run beside them."""
    groups = read_groups()
    may_differ = read_listed()
    total, listed, unlisted, by_chance = 0, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        both = [(group, pool.submit(answers, real, requests),
                 pool.submit(answers, embedded, requests)) for group, requests in groups.items()]
        for group, theirs, ours in both:
            theirs, ours = theirs.result(), ours.result()
            for name, wanted in theirs.items():
                total += 1
                full = f"{group}: {name}" if group else name
                found = list(paths(list(wanted), list(ours[name])))
                if not found:
                    if full in may_differ:
                        print(f"   no longer differs: {full}", flush=True)
                    continue
                if full in may_differ or lags(wanted, ours[name]):
                    listed += 1
                    continue
                if group:
                    by_chance += 1
                else:
                    unlisted += 1
                print(f"   differs: {full}")
                for line in found[:8]:
                    print(f"      {line[:600]}", flush=True)
    if by_chance <= BY_CHANCE:
        return total, listed + by_chance, unlisted
    return total, listed, unlisted + by_chance
