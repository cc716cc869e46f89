# SPDX-License-Identifier: Apache-2.0
"""Find the enumerations and required fields that a real API server enforces.

usage: confirm_types.py PLANE <CANDIDATES >TABLE

`oracle native-types` writes the candidates, as the comments of the Go types
have them. For each field, objects with a word outside of its enumeration, and
objects without it, are sent to the server, in each place of each kind that has
it. The mark of a field remains only if the server rejects the objects of all
these places."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../check"))
import plane  # noqa: E402

WRONG = "Bogus"
FIELD = re.compile(r"([\w$-]+)=([*[{]*)(T[\w.]+|[a-z])(?:\((\w+)\))?"
                   r"(\+?)!?0?$")
# Skipped fields: more lists of containers, and a volume that needs a gate.
SKIPPED = {"initContainers", "ephemeralContainers", "clusterTrustBundle"}
# Kinds that components of the cluster write.
WRITTEN = {"ResourceSlice", "VolumeAttachment", "Event", "Endpoints"}
PLAIN = "ReplicationController"  # selects by a map of labels
WORKLOADS = {"Job", "CronJob", "Deployment", "StatefulSet", "ReplicaSet",
             "DaemonSet", PLAIN}
# A valid value of each form, for the other required fields.
VALUES = {"s": "/a", "i": 1, "o": 1, "b": True, "q": "1"}


class Table:
    """native_types.tsv: kinds, and the fields of types."""

    def __init__(self, lines):
        self.kinds, self.types, self.lines = [], {}, list(lines)
        for line in self.lines:
            words = line.rstrip("\n").split("\t")
            if words[0] == "@":
                group, version, kind = words[1:4]
                self.kinds.append((version if group == "-" else
                                   f"{group}/{version}", kind, words[6]))
            elif words[0] != "=" and not line.startswith("#"):
                self.types[words[0]] = [FIELD.match(f).groups()
                                        for f in words[1].split()]

    def places(self, name, path=(), seen=()):
        """Yield (type, field, mark, path) of each field with a mark below a type; a
        path is a list of keys and of the wrappers of their values."""
        for field, around, form, enum, required in self.types[name]:
            if field in SKIPPED or \
                    field in ("status", "metadata") and not path:
                continue
            here = path + ((field, around.replace("*", "")),)
            if enum:
                yield name, field, "enum", here
            if required:
                yield name, field, "required", here
            if form[0] == "T" and form[1:] not in seen:
                yield from self.places(form[1:], here, seen + (name,))


def wrap(path, value):
    """Return nested maps and lists with the value at the path, such as
    {"spec": {"taints": [{"effect": value}]}}."""
    for key, around in reversed(path):
        for sign in reversed(around):
            value = [value] if sign == "[" else {"a": value}
        value = {key: value}
    return value


def text(path):
    """Return the path as text, such as spec.taints[0].effect."""
    words = [key + around.replace("[", "[0]").replace("{", "[a]")
             for key, around in path[:-1]]
    return ".".join(words + [path[-1][0]])


def complete(one, path):
    """Add the required fields of a workload and its pod, except the last field of
    the path."""
    spec = one.get("spec")
    if one["kind"] == "CronJob" and path[-1][0] != "jobTemplate":
        spec = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
    if one["kind"] in WORKLOADS and spec is not None:
        if path[-1][0] != "template":
            spec.setdefault("template", {}).setdefault("spec", {})
        if "Job" not in one["kind"] and one["kind"] != PLAIN and \
                path[-1][0] != "selector":
            spec.setdefault("selector", {"matchLabels": {"a": "b"}})
        spec = spec.get("template", {}).get("spec")
    if one["kind"] == "PodTemplate":
        spec = one.get("template", {}).get("spec")
    if one["kind"] in WORKLOADS | {"Pod", "PodTemplate"} and spec is not None:
        if path[-1][0] != "containers":
            spec.setdefault("containers", [{"name": "a"}])
        for container in spec.get("containers", []):
            container.setdefault("image", "a")
    return one


def examples(table, one, of, mark, path):
    """Yield objects that lack the field, or have a wrong word in it: alone, and with
    the other fields that the type requires."""
    if mark == "required":
        yield dict(one, **wrap(path[:-1], {}))
        return
    yield dict(one, **wrap(path, WRONG))
    beside = {field: VALUES[form] for field, around, form, _, required
              in table.types[of] if required and not around and
              form in VALUES}
    yield dict(one, **wrap(path[:-1], dict(beside, **wrap(path[-1:], WRONG))))


def is_missing(cause, where):
    """Return true if a cause of a refusal is the missing field, or the item that lacks
    it: claims[0] for claims[0].name."""
    return cause.get("field") == where or \
        cause.get("reason") == "FieldValueRequired" and \
        cause.get("field") == where.rpartition(".")[0] and \
        cause["field"].endswith("]")


def is_refused(server, examples, mark, where):
    for one in examples:
        status, answer, _ = server.create(one)
        causes = (answer.get("details") or {}).get("causes", [])
        if mark == "required":
            return any(is_missing(c, where) for c in causes)
        if status in (403, 422) and WRONG in answer.get("message", ""):
            return True
    return False


def cases(table, server):
    for version, kind, name in table.kinds:
        one = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
        if kind not in WRITTEN and server.resource(one):
            for of, field, mark, path in table.places(name):
                asked = [complete(e, path) for e in
                         examples(table, one, of, mark, path)]
                yield (of, field, mark), mark, text(path), asked


def keep(line, confirmed):
    """Return the line of a type without the marks that are not confirmed."""
    of, _, fields = line.rstrip("\n").partition("\t")
    words = []
    for word in fields.split():
        name = word.split("=")[0]
        if (of, name, "enum") not in confirmed:
            word = re.sub(r"\(\w+\)", "", word)
        if (of, name, "required") not in confirmed:
            word = word.replace("+", "")
        words.append(word)
    return f"{of}\t{' '.join(words)}\n"


def confirm(lines, server):
    """Return the lines of the table without marks that are not confirmed, and the
    cases: ((type, field, mark), path, an object, whether the mark is confirmed)."""
    table = Table(lines)
    server.namespaces([{"metadata": {}}])
    asked = list(cases(table, server))
    answers = plane.each(lambda c: is_refused(server, c[3], c[1], c[2]), asked)
    wrong = {c[0] for c, refused in zip(asked, answers) if not refused}
    confirmed = {c[0] for c in asked} - wrong
    kept = [keep(line, confirmed) if line.split("\t")[0] in table.types
            else line for line in table.lines]
    used = set(re.findall(r"\((\w+)\)", "".join(kept)))
    kept = [line for line in kept
            if not line.startswith("=") or line.split("\t")[1] in used]
    return kept, [(c[0], c[2], c[3][0], c[0] in confirmed) for c in asked]


def main(folder):
    lines, _ = confirm(sys.stdin, plane.Plane(folder))
    sys.stdout.writelines(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
