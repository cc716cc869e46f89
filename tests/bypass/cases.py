# SPDX-License-Identifier: Apache-2.0
"""Read the bypass cases of this folder: families, single files, rows of tables.

A family is one file, FAMILY.yaml. A line `--- # NAME` begins the case
FAMILY/NAME.yaml, which ends before the empty line in front of the next one and
is judged alone. Its first line says what it is:
    # deny: RULE[, RULE...] -- why a tenant would try this
    # allow: -- the difference from the denied one
and one of the next lines may say
    # lint only: why          a trick in the text, which the API server decodes
    # webhook only: why       the linter permits it by design
    # lint denies: RULE...    further rules that deny it in files only
    # review: KEY=VALUE ...   operation, subresource, user, groups
A plain `---` parts the documents of one case. In an UPDATE the first document
is the old object and the second the new one. FAMILY.policy.yaml is the policy
of a family that has its own. Cases whose exact bytes matter are files in a
folder of the family's name. If such a file has no room for a comment (JSON,
UTF-16, a BOM), a row of its cases.tsv describes it: file, verdict, rules, words
as above, why. Files named *.review.json are whole AdmissionReviews.
"""
import re

import kinds


class Case:
    """One manifest and its expected verdict."""

    def __init__(self, path, name, deny, why, loose=False):
        self.path, self.name, self.deny, self.why = path, name, deny, why
        self.place = name       # file and line, for messages
        self.loose = loose      # other rules may deny as well
        self.without = []       # if set, only these rules must not deny
        self.lint = self.webhook = True
        self.lint_deny = []     # other rules that deny in files alone
        self.review = {}
        self.policy = None
        self.json = path.suffix == ".json"
        self.is_review = path.name.endswith(".review.json")
        if self.is_review:
            self.lint = False

    def read_words(self, text):
        if "lint only" in text:
            self.webhook = False
        if "webhook only" in text:
            self.lint = False
        found = re.search(r"lint denies: (.*)", text)
        if found:
            self.lint_deny = rules_of(found[1])
        found = re.search(r"review: (.*)", text)
        if found:
            self.review = dict(w.split("=", 1) for w in found[1].split())


def rules_of(text):
    return [rule for rule in re.split(r"[ ,]+", text.strip()) if rule]


def from_file(path, name):
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        head = file.read(2000).splitlines()[:4]
    found = re.match(r"# (deny|allow):([a-z0-9, -]*?)--(.+)", head[0])
    if not found:
        return None
    case = Case(path, name, rules_of(found[2]), found[3].strip())
    if bool(case.deny) != (found[1] == "deny"):
        return None
    for line in head[1:]:
        if line.startswith("# "):
            case.read_words(line)
    return case


def from_table(table):
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        file, verdict, rules, words, why = line.split("\t")
        path = table.parent / file
        case = Case(path, f"{table.parent.name}/{file}", rules_of(rules), why)
        if bool(case.deny) != (verdict == "deny"):
            raise ValueError(f"{table}: {line}")
        case.read_words(words)
        yield case


def from_folder(folder):
    listed = set()
    if (folder / "cases.tsv").exists():
        for case in from_table(folder / "cases.tsv"):
            listed.add(case.path.name)
            yield case
    for path in sorted(folder.iterdir()):
        if (path.name in listed or path.name == "policy.yaml"
                or path.suffix not in (".yaml", ".json")):
            continue
        name = f"{folder.name}/{path.name}"
        yield from_file(path, name) or Case(path, name, ["no-header"], "")


def from_family(path, out):
    """Write each case of a family to a separate file below `out`, and yield
    it."""
    parts = re.split(r"^--- # (.+)\n", path.read_text(encoding="utf-8"),
                     flags=re.MULTILINE)
    line = parts[0].count("\n") + 1
    own = path.with_suffix(".policy.yaml")
    seen = set()
    for title, text in zip(parts[1::2], parts[2::2]):
        file = out / path.stem / f"{title}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        last = text is parts[-1]
        file.write_text(text if last else text[:-1], encoding="utf-8")
        name = f"{path.stem}/{title}.yaml"
        case = from_file(file, name) or Case(file, name, ["no-header"], "")
        case.place = f"{path.name}:{line}: {name}"
        case.policy = own if own.exists() else None
        if title in seen or not (last or text.endswith("\n\n")):
            raise ValueError(f"{path}:{line}: {title} stands twice, or no "
                             "empty line follows it")
        seen.add(title)
        line += 1 + text.count("\n")
        yield case


def read(folder, out):
    """Return all cases; those of families and tables are written below `out`."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        if not path.name.endswith("policy.yaml"):
            found += from_family(path, out / "families")
    for sub in sorted(p for p in folder.iterdir() if p.is_dir()):
        if sub.name != "__pycache__":
            found += from_folder(sub)
    for path, rules, why in kinds.write(folder, out / "kinds"):
        case = Case(path, f"kinds/{path.name}", rules, why, loose=True)
        case.without = [] if rules else kinds.RULES
        found.append(case)
    return found


def complaints(every, folder):
    """Yield the problems of the collection itself."""
    allowed = {c.name.split("/")[0] for c in every if not c.deny}
    for name in sorted({c.name.split("/")[0] for c in every} - allowed):
        yield f"{name}: no allowed case"
    for case in every:
        if len(case.why) < 10:
            yield f"{case.place}: does not say why"
    yield from kinds.missing(folder)
