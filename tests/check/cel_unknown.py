# SPDX-License-Identifier: Apache-2.0
"""Check random CEL expressions over inputs with unknown values.

usage: cel_unknown.py EVALUATOR COUNT SEED

A value that the expression names is a placeholder in the object, is missing in
an object that is a fragment, or is a variable without a value. If the result is
known nevertheless (a value or an error), each of SUBSTITUTIONS objects that
could be meant must give the same result. Prints how often the result is unknown
although all of them agree, which is allowed, and at the end `PASSED FAILED`.
"""
import collections
import copy
import json
import random
import re
import subprocess
import sys

import cel_random as known

SUBSTITUTIONS = 20
SHOWN = 10
BATCH = 500
PLACEHOLDER = "{{ .Values.x }}"
ANY = ["a", "b", "gpu", "", "x", "ghcr.io/x/train:1.0", "busybox", "500m", "8",
       0, 1, 2, 3, 7, -7, 250, 2.5, -0.5, True, False, None]
MORE = ANY + [[], [1], ["a"], {}, {"a": 1}, {"name": "b"}]
VALUES = {
    "i": known.INTS, "u": known.UINTS, "d": known.DOUBLES,
    "s": known.STRINGS, "b": known.BYTES, "t": known.TIMES,
    "p": known.LENGTHS, "l": ["[]", "[1]", "[3, 1, 2]", "[2, 2]"],
    "w": ["[]", "['x', 'gpu', 'x']", "['a']"],
    "m": ["{}", "{'a': dyn(1)}", "{'a': dyn('x')}", "{'zzz': dyn(2)}"],
    "n": ["{}", "{'a': 1}", "{'a': 2, 'b': 3}"],
    "o": ["optional.none()", "optional.of(dyn(5))", "optional.of(dyn('a'))"],
}


def paths(node, at=()):
    """Yield the paths of all values in the object, parents first."""
    items = node.items() if isinstance(node, dict) else \
        enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield at + (key,)
        yield from paths(child, at + (key,))


PATHS = list(paths(known.OBJECT))


def at(root, path):
    for key in path:
        root = root[key]
    return root


def named(words):
    return [p for p in PATHS if words >= {k for k in p if isinstance(k, str)}]


class Unknown:
    """Unknown values: the case's variables, and replacements."""

    def __init__(self, rng, case):
        self.rng, self.vars = rng, case["vars"]
        words = set(re.findall(r"\w+", case["expr"]))
        read = named(words) if "object" in self.vars else []
        ways = [self.variable] * bool(set(self.vars) & set(VALUES))
        ways += [self.placeholder, self.fragment] * bool(read)
        self.ways, self.read = ways, read

    def put(self, **changed):
        return {**self.vars, **{k: {**self.vars[k], **v}
                                for k, v in changed.items()}}

    def variable(self):
        name = self.rng.choice(sorted(set(self.vars) & set(VALUES)))
        yield {"vars": self.put(**{name: {"unknown": True}})}
        while True:
            yield {"vars": self.put(
                **{name: {"expr": self.rng.choice(VALUES[name])}})}

    def placeholder(self):
        leaves = [p for p in self.read if not isinstance(
            at(known.OBJECT, p), (dict, list))] or PATHS[:1]
        chosen = self.rng.sample(leaves, min(len(leaves),
                                             self.rng.choice((1, 1, 2))))
        value = lambda: PLACEHOLDER
        while True:
            root = copy.deepcopy(known.OBJECT)
            for path in chosen:
                at(root, path[:-1])[path[-1]] = value()
            yield {"vars": self.put(object={"json": root})}
            value = lambda: self.rng.choice(ANY)

    def fragment(self):
        path = self.rng.choice(self.read)
        rest = copy.deepcopy(known.OBJECT)
        del at(rest, path[:-1])[path[-1]]
        yield {"vars": self.put(object={"json": rest}), "fragment": True}
        while True:
            yield {"vars": self.put(object={"json": self.whole(rest, path)})}

    def whole(self, rest, path):
        """Return an object of which the fragment may be a part."""
        root = copy.deepcopy(rest)
        parent = at(root, path[:-1])
        back = copy.deepcopy(self.rng.choice(
            MORE + [at(known.OBJECT, path)] * 20))
        if isinstance(parent, list):
            parent.append(back)
        elif self.rng.random() < 0.8:
            parent[path[-1]] = back
        for where in [(), *paths(copy.deepcopy(root))]:
            node, more = at(root, where), copy.copy(self.rng.choice(MORE))
            if self.rng.random() < 0.7 or where and where[0] != "spec":
                continue
            if isinstance(node, dict):
                node["zzz"] = more
            elif isinstance(node, list):
                node.append(more)
        return root


def cases(rng, maker):
    """Return the case with an unknown value, and complete cases that it may
    represent."""
    while True:
        expr = maker.expression()
        names = set(re.findall(r"\b[a-z]+\b", expr))
        case = {"expr": expr, "vars": {k: v for k, v in
                                       known.VARIABLES.items() if k in names}}
        ways = Unknown(rng, case).ways
        if not ways:
            continue
        made = rng.choice(ways)()
        return [{**case, **next(made)} for _ in range(SUBSTITUTIONS + 1)]


def verdict(answer):
    """Return the answer without its cost. All errors count as equal. An
    exceeded budget counts as unknown, since unknown values cost nothing."""
    word, _, rest = answer.partition(" ")
    if "operation cancelled" in rest:
        return "unknown"
    return word if word != "ok" else rest.partition(" ")[2]


def judge(case, answers, counts):
    """Return the substitution that contradicts the known result, or None."""
    first, *others = map(verdict, answers)
    if "fragment" in case and first[:1] in ("[", "{", "s"):
        counts["parts"] += 1
        return None
    part = re.compile(re.escape(first).replace("<unknown>", ".*"), re.S)
    if first in ("refuse", "bad"):
        counts["refused"] += 1
    elif first != "unknown":
        counts["known"] += 1
        return next((i for i, other in enumerate(others, 1)
                     if other != "unknown" and not part.fullmatch(other)),
                    None)
    else:
        counts["unknown"] += 1
        counts["agree"] += len(set(others)) == 1 and others[0] != "error"
        counts["fail"] += set(others) == {"error"}
    return None


def main(evaluator, count, seed):
    rng = random.Random(seed)
    maker = known.Maker(rng)
    counts = collections.Counter()
    failed = 0
    while counts["known"] + counts["unknown"] < count:
        batch = [cases(rng, maker) for _ in range(BATCH)]
        lines = "".join(json.dumps(c) + "\n" for group in batch for c in group)
        answers = subprocess.run([evaluator], input=lines, text=True,
                                 check=True, stdout=subprocess.PIPE
                                 ).stdout.split("\n")
        for i, group in enumerate(batch):
            mine = answers[i * len(group):(i + 1) * len(group)]
            wrong = judge(group[0], mine, counts)
            if wrong is None:
                continue
            failed += 1
            if failed <= SHOWN:
                print(json.dumps(group[0]), mine[0],
                      json.dumps(group[wrong]["vars"]), mine[wrong],
                      sep="\n  ")
    share = counts["agree"] / counts["unknown"]
    print(f"{counts['known']} known, {counts['unknown']} unknown: in "
          f"{counts['agree']} ({share:.1%}) all {SUBSTITUTIONS} values agree, "
          f"in {counts['fail']} all fail; not judged: {counts['refused']} "
          f"refused, {counts['parts']} lists and maps out of a fragment")
    print(counts["known"] + counts["unknown"] - failed, failed)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
