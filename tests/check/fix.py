# SPDX-License-Identifier: Apache-2.0
"""Fix a copy of many manifests and check the result:

- every file reads as before: the same documents, nothing skipped or refused
- there is no new finding (by file and fingerprint)
- a second run changes no byte
- the text of --diff is a patch that git accepts, with the same result
- a file is the result of the reported edits or, if edits of several findings
  were merged, differs only at lines of a reported edit or (a fix may yield to
  another) of a finding
- files without fixable findings keep their bytes, times and permissions
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys

SHOWN = 60
MANIFEST = (".yaml", ".yml", ".json")


class Check:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, ok, what):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= SHOWN:
                print("FAIL", what, file=sys.stderr)
        return ok


def copy(sources, root):
    for source in sources:
        top = os.path.basename(os.path.normpath(source))
        for folder, _, names in os.walk(source):
            for name in names:
                # Fixed and good files are copied too, because correct text must
                # not change.
                if not name.endswith(MANIFEST) or name == "policy.yaml":
                    continue
                path = os.path.join(folder, name)
                to = os.path.join(root, top, os.path.relpath(path, source))
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copyfile(path, to)


def texts(root):
    found = {}
    for folder, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


class Tool:
    def __init__(self, gpugate, options, root):
        self.gpugate, self.options, self.root = gpugate, options, root

    def run(self, *more, ok=(0,)):
        # --unsafe-fixes needs --fix or --diff.
        options = [o for o in self.options
                   if o != "--unsafe-fixes" or {"--fix", "--diff"} & set(more)]
        if "--config" not in options:
            options.append("--isolated")
        done = subprocess.run(
            [self.gpugate, "lint", "--preset", "all", "--no-ignore-vcs",
             "--fail-on", "never", "--show-all", *options, *more, "."],
            cwd=self.root, capture_output=True)
        if done.returncode not in ok:
            sys.stderr.buffer.write(done.stderr[-4000:])
            print(f"FAIL {more}: exit status {done.returncode}",
                  file=sys.stderr)
        return done

    def report(self, *more):
        return json.loads(self.run("--format", "json", *more).stdout)


def git(root, *words, **more):
    return subprocess.run(
        ["git", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false",
         "-c", "user.name=x", "-c", "user.email=x@example.com", *words],
        cwd=root, capture_output=True, **more)


def name_of(path):
    return os.path.normpath(path)


def edits_of(report, unsafe):
    """Return the edits that --fix makes, by file."""
    edits = {}
    for finding in report["findings"]:
        fix = finding.get("fix")
        if fix and fix["edits"] and (fix["safe"] or unsafe):
            edits.setdefault(name_of(finding["file"]), set()).update(
                (e["start"], e["end"], e["text"]) for e in fix["edits"])
    return {file: sorted(list_) for file, list_ in edits.items()}


def apply(text, edits):
    """Return the text with all edits; None when two of them meet."""
    out, at, last = [], 0, None
    for start, end, new in edits:
        if start < at or (start, start) == last:
            return None
        out += [text[at:start], new.encode()]
        at, last = end, (start, end)
    return b"".join(out) + text[at:]


def lines_touched(text, edits, findings):
    touched = {line - i for line in findings for i in (0, 1)}
    for start, end, _ in edits:
        first = text.count(b"\n", 0, start)
        last = text.count(b"\n", 0, end)
        # Inserted lines follow the line, so its neighbor counts.
        touched.update(range(first, last + 2))
    return touched


def only_at(old, new, edits, findings):
    touched = lines_touched(old, edits, findings)
    a, b = old.split(b"\n"), new.split(b"\n")
    for op, i1, i2, _, _ in difflib.SequenceMatcher(
            None, a, b, autojunk=False).get_opcodes():
        if op != "equal" and not set(range(i1, i2 + 1)) & touched:
            return f"line {i1 + 1}"
    return None


def check_bytes(check, old, new, edits, before):
    exact = merged = 0
    findings = {}
    for f in before["findings"]:
        findings.setdefault(name_of(f["file"]), set()).add(f["line"])
    for file, text in sorted(old.items()):
        now = new.get(file)
        if file not in edits:
            check(now == text, f"{file}: changed without a reported edit")
            continue
        if now == apply(text, edits[file]):
            exact += 1
            check.passed += 1
            continue
        merged += 1
        where = only_at(text, now, edits[file], findings[file])
        check(not where, f"{file}: changed elsewhere: {where}")
    return exact, merged


def keys(report):
    """Map each finding from its fingerprint and from its object and message,
    because a fix can change the fingerprint."""
    found = {}
    for f in report["findings"]:
        file = name_of(f["file"])
        found[file, f["fingerprint"]] = f
        found[file, f["rule"], str(f["object"]), f.get("pod"),
              f.get("container"), f["message"]] = f
    return found


# Rules that may report something new after the fix of a rule: for example, a
# corrected quota counts, or a corrected command can be read.
REVEALED = {
    "quota-gpu-key-ineffective": {
        "quota-would-exceed", "quota-never-fits", "quota-gpu-uncovered",
        "quota-scope-hides-gpu"},
    # Requests that the policy sets are compared with the queues of the input
    # files.
    "gpu-pod-besteffort": {
        "clusterqueue-never-fits", "volcano-queue-never-fits"},
    # A class that the policy sets ranks among the classes of the input files.
    "priority-class-missing": {"batch-preempts-serving"},
    "command-single-string": {
        "readiness-missing-gpu-serving", "gpu-idle-command",
        "termination-grace-short"},
    # A Pod that no longer restarts its containers waits for all of them.
    "bare-gpu-pod-always": {"job-sidecar-never-ends"},
    # A selector set by the policy shows that a GPU is intended.
    "gpu-node-selector-missing": {"gpu-limit-missing"},
}


def hidden(tool, before):
    """Return the findings without the rules that fix something in the file, and the rules
    that may newly report after such a fix."""
    gone = {f["rule"] for f in before["findings"] if f.get("fix")}
    revealed = set().union(*(REVEALED.get(rule, set()) for rule in gone))
    ignore = ",".join(sorted(gone)) or "none"
    return keys(tool.report("--ignore", ignore)), revealed


def check_reports(check, before, after, behind, revealed):
    for key in ("documents", "objects", "workloads", "files"):
        check(before["summary"][key] == after["summary"][key],
              f"{key}: {before['summary'][key]}, "
              f"now {after['summary'][key]}")
    check(before["summary"]["skipped"] == after["summary"]["skipped"],
          "skipped files")
    was = {**behind, **keys(before)}
    for f in after["findings"]:
        check(keys({"findings": [f]}).keys() & was.keys()
              or f["rule"] in revealed,
              f"new: {name_of(f['file'])}:{f['line']}: {f['message']} "
              f"[{f['rule']}]")


def without_secrets(check, tool, patch):
    """Return the patch of the files whose part shows no secret value, and the names
    of the others: git must reject each of these, because its text differs."""
    parts = re.split(rb"(?m)^(?=--- a/)", patch)
    masked = [part for part in parts if b"****" in part]
    for part in masked:
        done = git(tool.root, "apply", "--check", "-", input=part)
        check(done.returncode, "git applies what is masked")
    names = {part.split(b"\n")[0][len("--- a/"):].decode() for part in masked}
    return b"".join(part for part in parts if part not in masked), names


def check_diff(check, tool, patch, old, new):
    patch, masked = without_secrets(check, tool, patch)
    done = git(tool.root, "apply", "--check", "-", input=patch)
    if not check(not done.returncode, f"git apply --check: "
                 f"{done.stderr[-2000:].decode(errors='replace')}"):
        return
    git(tool.root, "apply", "-", input=patch)
    made = texts(tool.root)
    for file in new.keys() - masked:
        check(made.get(file) == new[file],
              f"{file}: git apply and --fix differ")
    for file, text in old.items():
        if made.get(file) != text:
            with open(os.path.join(tool.root, file), "wb") as out:
                out.write(text)


def main():
    split = sys.argv.index("--")
    gpugate, root, *sources = sys.argv[1:split]
    options = sys.argv[split + 1:]
    unsafe = "--unsafe-fixes" in options
    if "--config" in options:
        at = options.index("--config") + 1
        options[at] = os.path.abspath(options[at])
    check = Check()
    copy(sources, root)
    tool = Tool(gpugate, options, root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "before")

    old, before = texts(root), tool.report()
    patch = tool.run("--diff", ok=(0, 1)).stdout
    check(texts(root) == old, "--diff changed a file")
    done = tool.run("--fix", "--format", "concise")
    check(done.returncode == 0, f"--fix: exit status {done.returncode}")
    new, after = texts(root), tool.report()
    tool.run("--fix", "--format", "concise")
    again = texts(root)
    for file in new:
        check(new[file] == again[file], f"{file}: a second --fix changes it")
    check(sorted(new) == sorted(old), "other files than before")
    for file, text in old.items():
        with open(os.path.join(root, file), "wb") as out:
            out.write(text)
    check_diff(check, tool, patch, old, new)

    # Read the findings of the restored files.
    check_reports(check, before, after, *hidden(tool, before))
    edits = edits_of(before, unsafe)
    exact, merged = check_bytes(check, old, new, edits, before)
    changed = sum(old[f] != new[f] for f in old)
    left = sum(1 for f in after["findings"]
               if f.get("fix") and f["fix"]["edits"]
               and (f["fix"]["safe"] or unsafe))
    refused = sum(1 for f in before["findings"]
                  if f.get("fix", {}).get("refused"))
    check(not left, f"{left} repairs are left to do")
    print(f"fix{' unsafe' if unsafe else ''}: {changed} of {len(old)} files "
          f"repaired ({exact} exactly by the reported edits, {merged} "
          f"merged), findings {len(before['findings'])} -> "
          f"{len(after['findings'])}, {refused} repairs refused; "
          f"{check.passed} passed, {check.failed} failed")
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
