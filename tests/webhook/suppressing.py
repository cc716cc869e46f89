# SPDX-License-Identifier: Apache-2.0
"""Build objects whose findings are suppressed: by annotations that the policy
grants, by annotations that it refuses for each possible reason, and by comments."""
import datetime
import json

REASON = "gpugate.dev/ignore-reason"
UNTIL = "gpugate.dev/ignore-until"
GRANTED = "team-a"  # a namespace of `team-*`
REFUSED = "research"
LOCKED = ("nvidia-visible-devices-override", "gpu-fractional-quantity")
WAYS = ("granted", "without a reason", "without a date", "too far ahead",
        "expired", "elsewhere", "some rules", "a rule too many", "no rule",
        "in the template", "a comment", "a comment without a reason")


def day(days):
    return (datetime.date.today() + datetime.timedelta(days)).isoformat()


def policy(rules):
    """Return the policy text that grants four of five rules, and locks two."""
    granted = [rule for i, rule in enumerate(sorted(rules)) if i % 5]
    return ("suppressions:\n  annotations: {rules: [%s], namespaces: "
            "[\"team-*\"], requireReason: true, maxDays: 30}\nlocked: [%s]\n"
            % (", ".join(granted), ", ".join(LOCKED)))


def template(node):
    """Return the first template of pods below an object."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    for below in node.values() if isinstance(node, dict) else ():
        spec = below.get("spec") if isinstance(below, dict) else None
        if isinstance(spec, dict) and "containers" in spec:
            return below
        found = template(below)
        if found is not None:
            return found
    return None


def annotate(holder, **more):
    meta = holder.get("metadata")
    if not isinstance(meta, dict):
        meta = holder["metadata"] = {}
    if not isinstance(meta.get("annotations"), dict):
        meta["annotations"] = {}
    meta["annotations"].update({k: v for k, v in more.items() if v})


def suppressed(obj, findings, way):
    """Return a copy of the object that suppresses its findings that way, or
    None where it cannot."""
    obj = json.loads(json.dumps(obj))
    rules = sorted({f["rule"] for f in findings})
    holder = template(obj) if way == "in the template" else obj
    if holder is None or not isinstance(obj.get("metadata"), dict):
        return None
    obj["metadata"]["namespace"] = REFUSED if way == "elsewhere" else GRANTED
    if way.startswith("a comment"):
        return obj
    names = {"some rules": rules[::2], "no rule": ["no-such-rule"],
             "a rule too many": rules + ["no-such-rule"]}.get(way, rules)
    annotate(holder, **{
        "gpugate.dev/ignore": ",".join(names),
        REASON: way != "without a reason" and "an old cluster",
        UNTIL: {"without a date": None, "too far ahead": day(40),
                "expired": day(-2)}.get(way, day(20))})
    return obj


def commented(text, findings, way):
    """Return the text, which is YAML, with a comment in each finding's line."""
    text = text.split("\n")
    reason = "" if way.endswith("without a reason") else " -- an old cluster"
    for at in {f["line"] for f in findings}:
        rules = sorted({f["rule"] for f in findings if f["line"] == at})
        text[at - 1] += " # gpugate: ignore[%s]%s" % (", ".join(rules), reason)
    return "\n".join(text)


def lines(obj):
    return json.dumps(obj, indent=1, ensure_ascii=False)
