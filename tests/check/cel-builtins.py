# SPDX-License-Identifier: Apache-2.0
"""Compare the findings of built-in rules and of their versions in CEL
(rules/catalog/*/*.cel, completed in cel/), by object and place, for objects of
the kinds that the file names.

usage: cel-builtins.py GPUGATE ORACLE FILE|FOLDER...

With the oracle ("-": none), cel-go judges the examples by the policies of
deploy/vap, in the environment of the oldest Kubernetes that has them."""
import glob
import json
import os
import re
import subprocess
import sys

GPUGATE, ORACLE, PATHS = sys.argv[1], sys.argv[2].strip("-"), sys.argv[3:]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PREFIX = "gpugate-"
# Rules whose version in CEL reads env alone, because CEL does not split commands.
ENV_ALONE = {"gpu-uuid-pinned", "cuda-visible-devices-invalid"}
OLDEST = "30"  # the first minor version that has the policies' API
RULES = {os.path.basename(path)[:-len(".cel")].replace("_", "-"): path
         for path in sorted(glob.glob("cel/*/*.cel"))}


def lint(*arguments, paths=PATHS):
    done = subprocess.run(
        [GPUGATE, "lint", "--show-all", "--format", "json", "--fail-on", "never",
         "--show-all", *arguments, *paths],
        text=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.returncode
    return json.loads(done.stdout)


def thing_of(finding):
    return (finding["file"], finding["document"], finding["object"]["kind"],
            finding["object"].get("name", ""))


def differences(own, cel):
    """Return (whose, finding) for findings that only one side has. A CEL
    expression stops at the first value that decides it, so a finding of the
    built-in rule counts as shared if CEL reports another one in its container
    (or pod, or object)."""
    met = {(thing_of(f), f["line"]) for f in cel}
    lines = {(thing_of(f), f["line"]) for f in own}
    told = {(thing_of(f), f["pod"], f["container"]) for f in own
            if (thing_of(f), f["line"]) in met}
    return [("CEL", f) for f in cel
            if (thing_of(f), f["line"]) not in lines] + \
           [("C", f) for f in own
            if (thing_of(f), f["pod"], f["container"]) not in told]


def is_unknown(rule, file):
    """Return true if lint does not run the rule in CEL on the file, because a value is
    unknown. A built-in rule can still run: it counts a placeholder as some amount."""
    alone = lint("--config", "policy.yaml", "--select", "custom",
                 paths=[file])
    return any(n["rule"] == PREFIX + rule
               for n in alone["summary"]["rulesNotRun"])


def is_resolved(finding):
    """Return true if the finding depends on a variable's referenced value. Rules in
    CEL do not follow references."""
    import yaml
    keys = finding.get("path", "").split("/")[1:]
    if "env" not in keys:
        return False
    if "valueFrom" in keys:
        return True
    with open(finding["file"]) as f:
        node = list(yaml.safe_load_all(f))[finding["document"] - 1]
    for key in keys:
        node = node[int(key) if isinstance(node, list) else key]
    return "$(" in str(node)


def words_of(text, key):
    """Return the list under this key in a file, or an empty list."""
    found = re.search(key + r":\s*\[([^]]*)\]", text)
    return [word.strip() for word in found[1].split(",")] if found else []


def kinds_of(text):
    """Return a set of (group, kind) that a file names."""
    pairs = (name.rpartition("/") for name in words_of(text, "kinds"))
    return {("" if group == "core" else group, kind)
            for group, _, kind in pairs}


def is_denied(finding, text):
    """Return false if the finding only warns, which a denying policy cannot express."""
    return "severity: error" not in text or finding["severity"] == "error"


def is_of(finding, rule, kinds):
    if finding["rule"] != rule or "object" not in finding or \
            "/ephemeralContainers/" in finding.get("path", ""):
        return False
    if rule in ENV_ALONE and \
            re.search("/(command|args)(/|$)", finding.get("path", "")):
        return False
    group, _, _ = finding["object"]["apiVersion"].rpartition("/")
    return (group, finding["object"]["kind"]) in kinds


def sent(node):
    """Return the object as the API server sends it: a limit or a request of null is
    0."""
    if isinstance(node, list):
        return [sent(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {key: {of: "0" if n is None else n for of, n in one.items()}
            if key in ("limits", "requests") and isinstance(one, dict)
            else sent(one) for key, one in node.items()}


def examples(name, kinds):
    """Yield (file, document) and the object for the rule's own examples, and for one
    object of each kind that contains a bad Pod."""
    import yaml
    own = glob.glob(f"{ROOT}/tests/rules/{name}/*.yaml")
    for path in sorted(own) + sorted(glob.glob(f"kinds/{name}-bad.yaml-*")):
        with open(path) as f:
            for n, thing in enumerate(yaml.safe_load_all(f), 1):
                if n > 1 and path not in own:
                    break
                group, _, _ = (thing or {}).get("apiVersion", "") \
                    .rpartition("/")
                if thing and (group, thing["kind"]) in kinds:
                    yield (path, n), sent(thing)


def write_kinds():
    """Write each Pod of the examples as pods of every other kind, into kinds/."""
    import yaml
    from export import KINDS
    os.mkdir("kinds")
    for path in sorted(glob.glob(f"{ROOT}/tests/rules/*/*.yaml")):
        folder, _, base = path[len(f"{ROOT}/tests/rules/"):].rpartition("/")
        with open(path) as f:
            try:
                things = list(yaml.safe_load_all(f))
            except yaml.YAMLError:
                continue
        pods = [(n, t) for n, t in enumerate(things)
                if isinstance(t, dict) and t.get("kind") == "Pod"
                and isinstance(t.get("spec"), dict)]
        if folder not in RULES or not pods:
            continue
        for kind, (version, places, spec) in KINDS.items():
            with open(f"kinds/{folder}-{base}-{kind}.yaml", "w") as f:
                for n, pod in pods:
                    metadata = pod.get("metadata", {})
                    template = {"metadata": {
                        key: metadata[key] for key in ("labels", "annotations")
                        if key in metadata}, "spec": pod["spec"]}
                    json.dump({
                        "apiVersion": version,
                        "kind": kind.replace("Volcano", ""),
                        "metadata": {"name": f"p{n}"} | {
                            key: metadata[key] for key in ("namespace",)
                            if key in metadata},
                        "spec": spec([template] * places)}, f, default=str)
                    f.write("\n---\n")
    PATHS.append("kinds")


def with_oracle(oracle, name, kinds, theirs):
    """Return the number of examples that cel-go checks with the policy of
    deploy/vap; print differences from the rule."""
    import yaml
    from export import ask
    with open(f"{ROOT}/deploy/vap/policies/{name}.yaml") as f:
        policy = yaml.safe_load(f)["spec"]
    things = list(examples(name, kinds))
    denied = set(ask([oracle, "cel", OLDEST], policy, things))
    found = {(f["file"], f["document"]) for f in theirs}
    for where, _ in things:
        if (where in denied) != (where in found) and \
                not is_unknown(name, where[0]):
            print(name, "only", "cel-go" if where in denied else "gpugate",
                  *where)
    return len(things)


def main():
    files = {}
    for name, path in RULES.items():
        with open(path) as f:
            files[name] = f.read()
    if ORACLE:
        write_kinds()
    own = lint("--isolated", "--select", ",".join(files))
    cel = lint("--config", "policy.yaml", "--select", "custom")
    total = unknown = judged = 0
    for name, text in files.items():
        kinds = kinds_of(text)
        c = [f for f in own["findings"]
             if is_of(f, name, kinds) and is_denied(f, text)]
        hidden = {(f["file"], f["line"]) for f in own["suppressed"]
                  if f["rule"] == name}
        theirs = [f for f in cel["findings"] if f["rule"] == PREFIX + name]
        if ORACLE:
            judged += with_oracle(ORACLE, name, kinds, theirs)
        theirs = [f for f in theirs if (f["file"], f["line"]) not in hidden]
        for whose, f in differences(c, theirs):
            if whose == "C" and (is_unknown(name, f["file"]) or
                                 is_resolved(f)):
                unknown += 1
                continue
            print(name, "only", whose, *thing_of(f), f["line"], f["column"],
                  f["message"])
        if not c:
            print(name, "finds nothing")
        total += len(c)
    print(len(files), "rules,", total, "findings,", unknown,
          "of them unknown in CEL,", judged, "verdicts of cel-go")


main()
