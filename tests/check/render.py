# SPDX-License-Identifier: Apache-2.0
"""Check the findings of build results, and the places at which they are shown.

render.py REPORT TREE LABEL LEAST BUILT...

REPORT is the JSON of `gpugate lint` in TREE. LEAST is the least number of
findings in each type of place, such as `overlay:7,base:30`. Each BUILT is
ROOT=FILE=TEXT: TEXT is the output of building the root whose file is ROOT, and
FILE is the JSON of linting TEXT alone. The findings of each root must be the
same in REPORT and FILE. Each must be shown at a plausible line of the source:
one with the last key (or the item's name) of the rendered path, or with the
nearest parent that the file has.
"""
import collections
import json
import os
import re
import sys


def identity(finding):
    o = finding["object"]
    return (finding["rule"], finding["severity"], finding["message"],
            o.get("kind"), finding["container"])


def by_root(report):
    roots = collections.defaultdict(collections.Counter)
    for f in report["findings"]:
        for r in f["related"]:
            if r["message"].startswith("built "):
                roots[r["file"]][identity(f)] += 1
    return roots


def steps(pointer):
    return [p.replace("~1", "/").replace("~0", "~")
            for p in pointer.split("/")[1:]]


def words_of(finding):
    """Return texts that the line may contain: each step of the path, innermost
    first, then keys of every object."""
    words = [s for s in reversed(steps(finding["path"])) if not s.isdigit()]
    return words + ["kind", "apiVersion", "metadata"]


def rendered_words(text, finding):
    """Return the words in the finding's line of the rendered text."""
    line = text[finding["line"] - 1]
    return [w for w in re.findall(r"[\w./~:@-]+", line) if len(w) > 1]


def document_of(lines, at):
    """Return the lines of the document that holds line number at, from 0."""
    first = max((i for i in range(at) if lines[i].startswith("---")), default=0)
    last = next((i for i in range(at + 1, len(lines))
                 if lines[i].startswith("---")), len(lines))
    return lines[first:last]


def has_key(line, word):
    return re.search(r'["\s{-]?%s["\']?\s*:' % re.escape(word), line)


def agrees(tree, text, root, built, shown):
    path = os.path.join(tree, shown["file"])
    lines = open(path, encoding="utf-8").read().split("\n")
    line = lines[shown["line"] - 1]
    if shown["line"] == 1 and shown["column"] == 1 and not shown["path"]:
        return "file alone"
    words = words_of(built)
    values = rendered_words(text, built)
    exact = [w for w in words[:1] + values if w in line]
    # A field of a kustomization or a value of a chart may set it by another
    # key.
    keys = {"image": ("newTag", "newName", "digest", "tag", "repository"),
            "replicas": ("count",)}
    exact += [k for k in keys.get(words[0], ()) if k in line]
    # A value of a chart is in the rendered line, whatever its key is.
    value = line.partition(":")[2].strip().strip("\"'")
    # A key with another value was overridden elsewhere.
    rendered = re.match(r'\s*(?:- )?["\']?%s["\']?: (.+)' %
                        re.escape(words[0]), text[built["line"] - 1])
    own = re.match(r'\s*(?:- )?["\']?%s["\']?: ([^{&*|>#]+)$' %
                   re.escape(words[0]), line)
    if rendered and own and words[0] != "name" and \
            own[1].strip(" \"'") != rendered[1].strip(" \"'"):
        return None
    if "kustomization" not in root and "/templates/" not in shown["file"] \
            and value:
        exact += [v for v in [value] if v in text[built["line"] - 1]]
    if exact:
        return "line"
    for i, word in enumerate(words):
        if has_key(line, word):
            # A key counts only if the document has none nearer to the value.
            document = document_of(lines, shown["line"] - 1)
            nearer = [w for w in words[:i] if w != word and
                      any(has_key(text_line, w) for text_line in document)]
            return None if nearer else "parent"
    return None


def kind_of(tree, root, shown):
    name = os.path.basename(shown["file"])
    if name.startswith("values") or (
            shown["file"] == root and "kustomization" not in root):
        return "values"
    if name.lower().startswith("kustomization"):
        return "overlay"
    if "/templates/" in "/" + shown["file"]:
        return "template"
    text = open(os.path.join(tree, shown["file"]), encoding="utf-8").read()
    folder = os.path.dirname(os.path.join(tree, shown["file"]))
    for k in ("kustomization.yaml", "kustomization.yml", "Kustomization"):
        k = os.path.join(folder, k)
        if os.path.exists(k) and re.search(
                r"path:\s*\"?(\./)?%s|^patches.*%s" % (re.escape(name),
                                                       re.escape(name)),
                open(k, encoding="utf-8").read(), re.M):
            return "overlay"
    return "base" if text else "file alone"


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    tree, label, least = sys.argv[2:5]
    roots = by_root(report)
    table = collections.Counter()
    failures = 0
    for item in sys.argv[5:]:
        root, path, text_path = item.split("=")
        built = json.load(open(path, encoding="utf-8"))
        text = open(text_path, encoding="utf-8").read().split("\n")
        wanted = collections.Counter(identity(f) for f in built["findings"])
        # Two findings of a root on one line with the same text are shown once.
        missing = set(wanted) - set(roots[root])
        extra = set(roots[root]) - set(wanted)
        for what, items in (("missing", missing), ("too much", extra)):
            for i in sorted(items, key=str):
                failures += 1
                print(f"{label}: {root}: {what}: {i}")
        for b in built["findings"]:
            for s in report["findings"]:
                if identity(s) != identity(b) or not any(
                        r["file"] == root for r in s["related"]):
                    continue
                how = agrees(tree, text, root, b, s)
                if not how:
                    failures += 1
                    how = "wrong"
                    print(f"{label}: {s['file']}:{s['line']}: {s['rule']}: "
                          f"not the line of {b['path']}")
                table["file alone" if how == "file alone" else
                      kind_of(tree, root, s)] += how != "wrong"
                table[how] += how == "wrong"
                break
    total = sum(table.values())
    at_line = total - table["file alone"] - table["wrong"]
    columns = ("base", "overlay", "template", "values", "file alone", "wrong")
    print(f"{label:10}" + "".join(f"{c}: {table[c]:4}  " for c in columns) +
          f"to a line: {100 * at_line / max(total, 1):.1f} %")
    if not total or at_line < 0.95 * total:
        failures += 1
        print(f"{label}: too few findings are shown at a line")
    for item in least.split(","):
        name, n = item.split(":")
        if table[name] < int(n):
            failures += 1
            print(f"{label}: fewer than {n} findings are of {name}")
    sys.exit(failures > 0)


main()
