# SPDX-License-Identifier: Apache-2.0
"""Check that a real API server and `lint --admission-policy` report the same
messages for the validation rules of CustomResourceDefinitions.

usage: crd_server.py GPUGATE PLANE CRDS WORK [SEED]

Objects are generated from the schemas: for each rule, some that contain its
value, with or without the fields that the rule names, and with values that it
compares with. Objects that the schema itself rejects are skipped, because the
server then does not evaluate rules. Rules that use oldSelf need an update."""
import collections
import json
import os
import random
import re
import sys

import yaml

import plane

VARIANTS, MANY = 4, 20 # objects of a rule; 1 if its definition has more than MANY
WORDS = ["a", "abc", "1", "10Gi", "/a", "http://a.example/x", "a.b/c",
         "a.example.com", "*", "2024-01-01T00:00:00Z", "1h", "", "0.5", "A_B",
         "a-b", "/a//b", "hf://a/b", "s3://a/b", "sha256:" + "0" * 64]
NUMBERS = [0, 1, 2, 3, 5, 10, -1, 100]


class Rule:
    def __init__(self, path, schema, rule):
        self.path, self.text = path, rule["rule"]
        self.message = plane.line(rule.get("message") or
                                  "failed rule: " + self.text)
        self.speaks = "messageExpression" in rule
        self.waits = "oldSelf" in self.text and \
            not rule.get("optionalOldSelf")
        self.names = set(re.findall(r"\b\w+\b", self.text))
        self.words = [a or b for a, b in re.findall(r"'([^']*)'|\"([^\"]*)\"",
                                                    self.text)]
        self.schema = schema


def rules(schema, path=()):
    for rule in schema.get("x-kubernetes-validations") or []:
        yield Rule(path, schema, rule)
    for name, one in (schema.get("properties") or {}).items():
        yield from rules(one, path + (name,))
    for key, name in (("items", 0), ("additionalProperties", None)):
        if isinstance(schema.get(key), dict):
            yield from rules(schema[key], path + (name,))


def matches(pattern, word):
    """Return the match of a pattern of Go, which may have a flag in its
    middle."""
    return re.search(pattern.replace("(?i)", ""), word,
                     re.I if "(?i)" in pattern else 0)


class Maker:
    """Generate random values of a schema for a rule. A value contains the path to the
    part that the rule checks."""

    def __init__(self, rng, rule):
        self.rng, self.rule = rng, rule

    def text(self, schema):
        pool = self.rule.words + WORDS
        self.rng.shuffle(pool)
        low, high = schema.get("minLength", 0), schema.get("maxLength", 9999)
        for word in pool:
            if low <= len(word) <= high and \
                    matches(schema.get("pattern", ""), word):
                return word
        return "a" * max(low, 1)

    def number(self, schema):
        low = schema.get("minimum", -10)
        good = [n for n in NUMBERS if low <= n <= schema.get("maximum", 1e9)]
        return self.rng.choice(good or [low])

    def scalar(self, schema):
        if schema.get("enum"):
            named = [e for e in schema["enum"] if e in self.rule.words]
            return self.rng.choice(named if named and self.rng.random() < .6
                                   else schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return self.rng.choice([0, 1, 3, "1", "25%", "500m", "2Gi"])
        kind = schema.get("type")
        if kind == "boolean":
            return self.rng.random() < .6
        if kind in ("integer", "number"):
            return self.number(schema)
        if schema.get("format") == "date-time":
            return "2024-01-01T00:00:00Z"
        return self.text(schema)

    def items(self, schema, path, depth):
        low = schema.get("minItems", 0)
        n = max(low, 1 if path else 0)
        n += self.rng.randrange(3) if depth < 12 else 0
        return [self.value(schema["items"], path[1:] if i == 0 else (),
                           depth + 1)
                for i in range(min(n, schema.get("maxItems", 9)))]

    def map(self, schema, path, depth):
        if path and path[0] is not None:
            return {path[0]: self.value(schema, path, depth)}
        keys = self.rng.sample(["a", "b", "*"] + self.rule.words[:2],
                               self.rng.randrange(1 if path else 0, 3))
        return {k: self.value(schema["additionalProperties"], path[1:],
                              depth + 1) for k in dict.fromkeys(keys)}

    def wanted(self, name, required, at, depth):
        if name in required:
            return True
        if at and name in self.rule.names:
            return self.rng.random() < .6
        return self.rng.random() < (.15 if at else .03 if depth < 6 else 0)

    def value(self, schema, path, depth=0, at=False):
        at = at or not path and schema is self.rule.schema
        if schema.get("properties"):
            out = {}
            for name, one in schema["properties"].items():
                on_path = bool(path) and path[0] == name
                if depth == 0 and name in ("apiVersion", "kind", "metadata"):
                    continue
                if on_path or self.wanted(name, schema.get("required", ()),
                                          at, depth):
                    inner = at and depth < 14 and name in self.rule.names
                    out[name] = self.value(one, path[1:] if on_path else (),
                                           depth + 1, inner)
            return out
        if schema.get("type") == "array" and "items" in schema:
            return self.items(schema, path, depth)
        if isinstance(schema.get("additionalProperties"), dict):
            return self.map(schema, path, depth)
        if schema.get("type") == "object":
            return {}
        return self.scalar(schema)


def definitions(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".yaml"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield from (d for d in yaml.load_all(file, yaml.CSafeLoader)
                            if d)


class Check:
    def __init__(self, gpugate, server, crds, work, seed=1):
        self.server = plane.Plane(server)
        self.lint = plane.Lint(gpugate, os.path.join(work, "objects"))
        self.crds, self.rng = crds, random.Random(int(seed))
        self.asked, self.rules = [], {}
        self.counts = collections.Counter()
        self.schema = collections.Counter() # errors that no rule makes

    def objects(self):
        for definition in definitions(self.crds):
            spec = definition["spec"]
            for version in spec["versions"]:
                schema = version.get("schema", {}).get("openAPIV3Schema", {})
                found = list(rules(schema))
                self.counts["rules"] += len(found)
                self.counts["that wait for an update"] += sum(
                    r.waits for r in found)
                kind = f"{spec['group']}/{version['name']}", \
                    spec["names"]["kind"]
                self.rules[kind] = found
                for number, rule in enumerate(found):
                    for i in range(VARIANTS if len(found) <= MANY else 1):
                        self.make(kind, schema, rule, f"{number}-{i}",
                                  spec["scope"])

    def make(self, kind, schema, rule, number, scope):
        one = {"apiVersion": kind[0], "kind": kind[1],
               "metadata": {"name": "a"}}
        if scope == "Namespaced":
            one["metadata"]["namespace"] = "default"
        one |= Maker(self.rng, rule).value(schema, rule.path)
        name = f"{kind[1]}-{kind[0].replace('/', '-')}-{number}".lower()
        self.lint.write(name, one)
        self.asked.append((name, kind, one))

    @staticmethod
    def causes(answer):
        """Return (reason, message) of each cause."""
        details = answer[1].get("details") or {}
        return [(c.get("reason"), plane.line(c.get("message", "")))
                for c in details.get("causes") or []]

    def theirs(self, kind, answer):
        """Return the messages of rules; None if the server did not evaluate them."""
        found = set()
        if answer[0] == 201:
            return found
        for reason, message in self.causes(answer):
            if reason in ("FieldValueRequired", "FieldValueTooLong",
                          "FieldValueTooMany", "FieldValueTypeInvalid") or \
                    "some validation rules were not checked" in message:
                return None
            text = message.partition(": ")[2]
            for rule in self.rules[kind]:
                if text.endswith(rule.message) or rule.speaks:
                    found.add(text)
            if text not in found:
                self.schema[re.sub(r"[\d\"']+\S*", "_", text)[:60]] += 1
        return found

    def run(self):
        self.objects()
        answers = plane.each(lambda a: self.server.create(a[2]), self.asked)
        findings = self.lint.findings(
            "--isolated", "--select", "crd-validation", "--admission-policy",
            self.crds)
        failed, kinds = set(), collections.Counter()
        for (name, kind, one), answer in zip(self.asked, answers):
            theirs = self.theirs(kind, answer)
            if theirs is None:
                self.counts["refused by their schema"] += 1
                continue
            ours = {re.sub(r"^the definition `.*?`: ", "", f["message"])
                    for f in findings.get(name, [])}
            theirs = {next((m for m in ours if t.endswith(m)), t)
                      for t in theirs}
            kinds[kind[1]] += 1
            failed |= {(kind, t) for t in theirs}
            self.counts["bad" if theirs else "fine"] += 1
            self.counts["wrong"] += ours != theirs
            if ours != theirs:
                print(f"{name}: only gpugate: {sorted(ours - theirs)}\n"
                      f"    only the server: {sorted(theirs - ours)}\n"
                      f"    {json.dumps(one)[:1500]}\n    {self.causes(answer)}")
        asked = sum(kinds.values())
        print(f"{asked} objects of {len(kinds)} kinds, {self.counts['bad']} "
              f"against {len(failed)} rules; " + ", ".join(
                  f"{self.counts[k]} {k}" for k in (
                      "rules", "that wait for an update",
                      "refused by their schema")))
        print("of the schema itself: " + "; ".join(
            f"{n} x {text}" for text, n in self.schema.most_common(12)))
        print(f"crd-server: {asked - self.counts['wrong']} passed, "
              f"{self.counts['wrong']} failed")
        return self.counts["wrong"] or asked < 500 or len(kinds) < 20


if __name__ == "__main__":
    sys.exit(Check(*sys.argv[1:6]).run() and 1)
