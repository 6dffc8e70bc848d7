"""Kubernetes' own schemas, and what is used of the kinds of others."""

import glob
import json
import os

import jsonschema

# Where Bazel lays them; tools/setup has unpacked them.
_FOLDERS = ("external/kubernetes_schemas", "../kubernetes_schemas")


def _object(required, **properties):
    return {"type": "object", "required": required, "properties": properties,
            "additionalProperties": False}


def _list(item):
    return {"type": "array", "minItems": 1, "items": item}


_TEXT = {"type": "string", "minLength": 1}
_SELECTOR = _object(["matchLabels"], matchLabels={
    "type": "object", "additionalProperties": _TEXT})
_TLS = _object(["ca", "serverName"],
               ca=_object(["secret"], secret=_object(
                   ["name", "key"], name=_TEXT, key=_TEXT)),
               cert=_object(["secret"], secret=_object(
                   ["name", "key"], name=_TEXT, key=_TEXT)),
               keySecret=_object(["name", "key"], name=_TEXT, key=_TEXT),
               serverName=_TEXT)
_ENDPOINT = _object(
    ["port"], port=_TEXT, interval={"type": "string", "pattern": "^[0-9]+s$"},
    scheme={"enum": ["http", "https"]}, tlsConfig=_TLS,
    relabelings=_list(_object(
        ["targetLabel"], targetLabel=_TEXT, replacement=_TEXT,
        sourceLabels=_list(_TEXT))))


def _monitor(kind, endpoints):
    return _object(
        ["apiVersion", "kind", "metadata", "spec"],
        apiVersion={"const": "monitoring.coreos.com/v1"}, kind={"const": kind},
        metadata={"type": "object"},
        spec=_object(["selector", endpoints], selector=_SELECTOR,
                     **{endpoints: _list(_ENDPOINT)}))


# Of the operator of Prometheus: the fields that are used here, as its API
# reference describes them.
_OTHERS = {
    "PodMonitor": _monitor("PodMonitor", "podMetricsEndpoints"),
    "ServiceMonitor": _monitor("ServiceMonitor", "endpoints"),
}


def releases():
    """{"v1.29": definitions} of each release that is there."""
    found = {}
    for folder in _FOLDERS:
        for path in glob.glob(os.path.join(folder, "*.json")):
            with open(path, encoding="utf-8") as file:
                found[os.path.basename(path)[:-len(".json")]] = json.load(file)
    return found


def _schema_of(item, definitions):
    group, _, version = item["apiVersion"].rpartition("/")
    kind = {"group": group, "version": version, "kind": item["kind"]}
    for name, definition in definitions["$defs"].items():
        if kind in definition.get("x-kubernetes-group-version-kind", []):
            return dict(definitions, **{"$ref": "#/$defs/" + name})
    return _OTHERS.get(item["kind"])


def violations(item, definitions):
    """What a release would refuse of an object, as lines of text."""
    schema = _schema_of(item, definitions)
    if schema is None:
        return ["no such kind: %s %s" % (item["apiVersion"], item["kind"])]
    return [
        "%s %s: %s: %s" % (item["kind"], item["metadata"]["name"],
                           "/".join(map(str, error.absolute_path)),
                           error.message)
        for error in jsonschema.Draft202012Validator(schema).iter_errors(item)
    ]
