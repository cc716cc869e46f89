# SPDX-License-Identifier: Apache-2.0
"""Check that all commands give the same answer: `gpugate lint`, `lint --fix`,
`gpugate krm`, /validate and /mutate.

Each object of the corpus (without one: of the rules' examples), and objects
changed at random, goes through all of them under one policy:

 - findings (rule, severity, message, pointer, fingerprint) and the number of
   GPUs are the same, unless lint treats the object as a fragment or finds a
   placeholder: these exist in files only
 - /validate denies the object if and only if a finding's action is deny, and
   names the reason
 - lint exits with 0 for the patched object if and only if /validate allows it
 - if the policy requests every fix, the patched object equals the output of
   `lint --fix` and of krm, and krm's results are lint's remaining findings
 - a patched object needs no further patch, and is not denied for anything new
 - an UPDATE to itself is allowed, without a patch
 - uid, patch and patchType are as the API server requires

The settings: `recommended` and `strict` as they are, `repairs` (strict, and a
patch for all that can be repaired), `state` (with a made-up state of the
cluster, where some quotas are full), `rules` (those of deploy/examples/rules
alone, over their fixtures and a third of the corpus) and `suppressions` (objects
that suppress their findings, by annotation and by comment, under a policy that
grants some).

usage: same_answer.py BUILD FOLDER WORK NUMBER SEED EVERY SETTING...
EVERY: each object goes through the webhook. One in EVERY objects also goes
through lint and krm by itself; the others are combined.
"""
import base64
import collections
import itertools
import json
import pathlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from made_up_state import NEEDS_STATE, write_state  # noqa: E402
from random_objects import (documents, dumped, objects_of,  # noqa: E402
                            random_objects)
from review import OF_SERVER, dump, review  # noqa: E402
import suppressing  # noqa: E402

SHOWN = 20
ROUNDS = 10  # maximum passes until a patch settles
SPACE = "research"  # namespace of objects that set none
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
HEAD = "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / \
    "deploy/examples/rules"


def pointer(text):
    return [t.replace("~1", "/").replace("~0", "~")
            for t in text.split("/")[1:]]


def patched(obj, operations):
    obj = json.loads(json.dumps(obj))
    for op in operations:
        *way, last = pointer(op["path"])
        holder = obj
        for key in way:
            holder = holder[int(key) if isinstance(holder, list) else key]
        if isinstance(holder, list):
            index = len(holder) if last == "-" else int(last)
            if op["op"] == "add":
                holder.insert(index, op["value"])
            elif op["op"] == "remove":
                del holder[index]
            else:
                holder[index] = op["value"]
        elif op["op"] == "remove":
            del holder[last]
        else:
            holder[last] = op["value"]
    return obj


def named(f):
    return (f["rule"], f["severity"], f["message"], f["path"],
            f["fingerprint"])


def denies(f, obj):
    """Return true if the finding denies the object. An error with a patch denies only a
    Pod: the Pods of an owner are patched when they are created."""
    return not f["suppressed"] and (
        f["action"] == "deny" or
        (f["action"] == "patch" and f["severity"] == "error" and
         (not f["patches"] or
          (obj["kind"], obj["apiVersion"]) == ("Pod", "v1"))))


def is_in_git(obj):
    """Return true for objects, except Pods, with the marks of Argo CD or Flux."""
    meta = obj["metadata"]
    return obj["kind"] != "Pod" and any(
        mark in (meta.get(where) or {}) for where, mark in (
            ("annotations", "argocd.argoproj.io/tracking-id"),
            ("labels", "argocd.argoproj.io/instance"),
            ("labels", "kustomize.toolkit.fluxcd.io/name"),
            ("labels", "helm.toolkit.fluxcd.io/name")))


def bare(obj):
    """Return the object without its status, which a review lacks."""
    return {k: v for k, v in obj.items() if k != "status"}


class Linted:
    """The findings of `gpugate lint` for an object."""

    def __init__(self, done):
        report = json.loads(done.stdout)
        self.status, self.summary = done.returncode, report["summary"]
        self.findings = report["findings"]
        self.suppressed = report["suppressed"]
        self.errors = [f for f in self.findings if f["severity"] == "error"]
        self.in_files_only = self.summary["placeholders"] or \
            self.summary["fragments"]


class Trial:
    """One setting: the policy, the objects, and how many statements held."""

    def __init__(self, build, work, setting, objects, every):
        self.build, self.work, self.setting = build, work, setting
        self.every = every  # one object in this many is also linted by itself
        self.objects = objects
        self.policy = work / (setting + ".yaml")
        self.options = []
        self.failed, self.held, self.listed = [], 0, collections.Counter()
        self.spoke = set()

    def say(self, good, i, what):
        if good:
            self.held += 1
        else:
            self.failed.append((i, what))

    # --- the policy ---------------------------------------------------------

    def names(self):
        listing = json.loads(self.gpugate("rules", "--format", "json").stdout)
        return [rule["name"] for rule in listing["rules"]]

    def rules(self):
        """Yield the policy's line for each rule of the setting: `patch` if it has a fix."""
        custom = self.setting == "rules"
        listing = json.loads(self.gpugate(
            "rules", "--config", self.policy, "--format", "json").stdout)
        for rule in listing["rules"]:
            repairs = rule["repair"] != "none" and not rule["preview"]
            if custom == (rule["category"] == "custom") and (
                    custom or repairs):
                yield "  %s: {%s}\n" % (
                    rule["name"], "action: patch" if repairs else "")

    def prepare(self):
        text = HEAD
        if self.setting in ("strict", "repairs", "suppressions"):
            text += "extends: [strict]\n"
        if self.setting == "suppressions":
            text += suppressing.policy(self.names())
        if self.setting == "rules":
            text += "custom: [%s/*.yaml]\n" % EXAMPLES
        self.policy.write_text(text)
        if self.setting in ("repairs", "rules"):
            off = "  all: off\n" if self.setting == "rules" else ""
            self.policy.write_text("%spatchOwners: true\nrules:\n%s%s" % (
                text, off, "".join(self.rules())))
        if self.setting == "state":
            self.options = ["--cluster", self.work / "state.json"]
            write_state(self.objects, self.options[1])

    # --- the ways in --------------------------------------------------------

    def gpugate(self, command, *args, **more):
        return subprocess.run(
            [str(a) for a in (self.build / "gpugate", command, *args)],
            capture_output=True, check=False, close_fds=False, **more)

    def linter(self, select=()):
        """Return lint's options. --policy runs all rules, so selected ones need --config."""
        policy = ("--isolated", "--policy", self.policy)
        if select:
            policy = ("--config", self.policy)
        elif self.setting in ("recommended", "state"):
            policy = ("--isolated",)
        space = () if self.setting == "rules" else ("-n", SPACE)
        ignore = () if self.setting == "suppressions" else ("--no-ignore",)
        return (*ignore, *space, *policy, *select, *self.options)

    def lint(self, path, select=()):
        return Linted(self.gpugate("lint", *self.linter(select),
                                   "--show-all", "--format", "json", path))

    def file(self, obj, name):
        path = self.work / name
        dump(obj, path)
        return path

    def fix(self, i, select):
        """Return the object after --fix, and lint's findings in it."""
        path = self.file(self.objects[i], "%05d.fixed" % i)
        unsafe = ["--unsafe-fixes"] if select else []
        self.gpugate("lint", *self.linter(select), "--fix", "--show-all", "-q", *unsafe, path)
        return json.loads(path.read_text("utf-8")), self.lint(path, select)

    def krm(self, i, select):
        """Write krm's output for an object to a file. Return the exit status."""
        wrapped = {"apiVersion": "config.kubernetes.io/v1",
                   "kind": "ResourceList", "items": [self.objects[i]]}
        unsafe = ["--unsafe-fixes"] if select else []
        done = self.gpugate("krm", *self.linter(select), *unsafe,
                            input=json.dumps(wrapped).encode())
        (self.work / ("%05d.krm" % i)).write_bytes(done.stdout)
        return done.returncode

    def ask(self, how, reviews):
        """Return the webhook's response to each review, in order."""
        paths = [self.file(one, "%05d.review" % i)
                 for i, one in enumerate(reviews)]
        (self.work / "list").write_text("".join("%s\n" % p for p in paths))
        done = subprocess.run(
            [str(a) for a in (self.build / "tests/tools/admission",
                              "--policy", self.policy, *self.options, how,
                              "@%s" % (self.work / "list"))],
            capture_output=True, check=False)
        lines = [json.loads(line) for line in
                 done.stdout.decode("utf-8", "replace").split("\n") if line]
        if len(lines) != len(reviews):
            sys.exit("FAILED %s: %d answers to %d reviews: %s" % (
                how, len(lines), len(reviews), done.stderr.decode()[-300:]))
        return lines if how == "findings" else \
            [self.response(line, i) for i, line in enumerate(lines)]

    def response(self, line, i):
        r = line["response"]
        self.say(r["uid"] == UID and ("patch" in r) == ("patchType" in r)
                 and (r["allowed"] or "status" in r), i, "the envelope")
        if "patch" in r:
            r["patch"] = json.loads(base64.b64decode(r["patch"]))
        return r

    def review(self, obj, *more):
        """Return a request. It names a namespace if the object does not, except
        for custom rules, which read the namespace in the object."""
        meta = obj.get("metadata")
        named = isinstance(meta, dict) and meta.get("namespace")
        return review(obj, *more, namespace=None if named or
                      self.setting == "rules" else SPACE)

    # --- required statements ------------------------------------------------

    def run(self):
        self.prepare()
        objects = self.objects
        reviews = [self.review(o) for o in objects]
        answers = self.ask("findings", reviews)
        validated = self.ask("validate", reviews)
        mutated = self.ask("mutate", reviews)
        made = [self.made(i, o, mutated[i], answers[i])
                for i, o in enumerate(objects)]
        after = self.ask("validate", [self.review(o) for o in made])
        jobs = range(0, len(objects), self.every)
        with ThreadPoolExecutor(2) as pool:
            linted = dict(zip(jobs, pool.map(self.first, jobs)))
            left = dict(zip(jobs, pool.map(
                lambda i: linted[i] if made[i] == objects[i] else
                self.lint(self.file(made[i], "%05d.made" % i)), jobs)))
        for i, answer in enumerate(answers):
            self.check_denial(i, answer, validated[i])
            self.spoke.update(f["rule"] for f in answer["findings"])
        same = [i for i in jobs
                if self.check_findings(i, linted[i], answers[i])]
        for i in jobs:
            self.check_verdict(i, made[i], left[i], after[i])
        self.check_after(answers, made)
        if self.setting in ("repairs", "rules"):
            withheld = self.check_withheld(answers, made)
            self.check_repairs([i for i in same if i not in withheld],
                               answers, made)
        if self.every > 1:
            self.check_at_once()

    def check_at_once(self):
        """Check all objects in one process, because processes are expensive."""
        path = self.work / "all.yaml"
        path.write_text("".join(
            "---\n%s\n" % json.dumps(o) for o in self.objects), "utf-8")
        items = json.dumps({"apiVersion": "config.kubernetes.io/v1",
                            "kind": "ResourceList", "items": self.objects})
        for done in (
                self.gpugate("lint", *self.linter(), "--fail-on", "never",
                             "--fix", "--show-all", "-q", path),
                self.gpugate("krm", *self.linter(), "--fail-on", "never",
                             input=items.encode())):
            self.say(done.returncode == 0, "all at once",
                     done.stderr.decode("utf-8", "replace")[-3000:])

    def first(self, i):
        return self.lint(self.file(self.objects[i], "%05d.json" % i))

    def made(self, i, obj, response, answer):
        self.say(response["allowed"], i, "/mutate denies")
        if "patch" not in response:
            return obj
        try:
            made = patched(obj, response["patch"])
        except (KeyError, IndexError, TypeError, ValueError) as problem:
            self.say(False, i, "the patch does not apply: %r" % problem)
            return obj
        self.settle(answer, made)
        self.say(bare(made) == bare(answer["patched"] or {}), i,
                 "two patches")
        return made

    def settle(self, answer, made):
        """Repeat the review until it patches nothing more, as --fix does; a
        response of `findings` is a single pass."""
        look = answer["patched"]
        for _ in range(ROUNDS):
            if not look or bare(answer["patched"]) == bare(made):
                return
            look = self.ask("findings", [self.review(look)])[0]["patched"]
            answer["patched"] = look or answer["patched"]

    def check_findings(self, i, linted, webhook):
        """Compare the numbers of GPUs, and the findings except those about
        suppressions. Return true if the findings are equal."""
        lint = sorted(named(f) for f in linted.findings
                      if f["rule"] not in ("object-duplicate", *OF_SERVER))
        mine = sorted(named(f) for f in webhook["findings"]
                      if not f["rule"].startswith("suppression-") and
                      f["rule"] not in OF_SERVER)
        if lint != mine and linted.in_files_only:
            self.listed["other findings: fragments and placeholders"] += 1
            return False
        # The webhook never sees an object that the API server cannot decode.
        if lint != mine and any(f["rule"] == "field-type-invalid"
                                for f in linted.findings):
            self.listed["other findings: the API server's"] += 1
            return False
        self.say(lint == mine, i, "only lint %s, only webhook %s" % (
            [x for x in lint if x not in mine][:2],
            [x for x in mine if x not in lint][:2]))
        # A fragment is not applied, and its GPUs are not in the sum; an
        # embedded one counts with its parent.
        part = linted.summary["fragments"] == linted.summary["objects"]
        gpus = 0 if part else webhook["gpus"]
        if linted.summary["gpus"] != gpus and linted.summary["placeholders"]:
            self.listed["other GPUs: placeholders"] += 1
        else:
            self.say(linted.summary["gpus"] == gpus, i, "GPUs: %d, %d" % (
                linted.summary["gpus"], gpus))
        return lint == mine

    def check_denial(self, i, webhook, response):
        denying = [f for f in webhook["findings"] if denies(f, self.objects[i])]
        self.say(response["allowed"] == (not denying), i,
                 "allowed %s, denying: %s" % (
                     response["allowed"], [f["rule"] for f in denying[:3]]))
        if denying and not response["allowed"]:
            said = response["status"]["message"]
            self.say(any(f["rule"] in said and f["message"][:40] in said
                         for f in denying), i, "the denial says " + said)

    def check_verdict(self, i, made, linted, answer):
        if (linted.status == 0) == answer["allowed"]:
            self.say(True, i, "")
            self.listed["allowed" if answer["allowed"] else "denied"] += 1
        elif linted.in_files_only:
            self.listed["another verdict: fragments and placeholders"] += 1
        elif linted.errors and all(f["rule"] in OF_SERVER
                                   for f in linted.errors):
            self.listed["another verdict: the API server's"] += 1
        elif linted.errors and made["kind"] != "Pod" and all(
                (f.get("fix") or {}).get("safe") for f in linted.errors
                if f["rule"] not in OF_SERVER):
            self.listed["another verdict: the pods will be patched"] += 1
        else:
            self.say(False, i, "%s: lint exits %d %s, the webhook: %s" % (
                made["kind"], linted.status,
                sorted({f["rule"] for f in linted.errors}),
                answer.get("status", {}).get("message", "allowed")))

    def check_after(self, answers, made):
        objects = self.objects
        again = self.ask("mutate", [self.review(o) for o in made])
        then = self.ask("findings", [self.review(o) for o in made])
        itself = [self.review(o, "UPDATE", o) for o in objects]
        kept = self.ask("validate", itself)
        patch = self.ask("mutate", itself)
        for i, obj in enumerate(objects):
            self.say("patch" not in again[i], i, "patched twice")
            before = {f["fingerprint"] for f in answers[i]["findings"]
                      if denies(f, obj)}
            new = [f["rule"] for f in then[i]["findings"]
                   if denies(f, obj) and f["fingerprint"] not in before]
            self.say(not new, i, "the patch brings %s" % new)
            self.say(kept[i]["allowed"], i, "denied as an UPDATE of itself")
            self.say("patch" not in patch[i], i, "patched on UPDATE")

    def check_withheld(self, answers, made):
        """Check that a patch is withheld only if it would bring a finding, or
        for an object kept in git. Return the indexes of these objects."""
        withheld = [i for i, answer in enumerate(answers)
                    if answer["patched"] and made[i] == self.objects[i]]
        wanted = [answers[i]["patched"] for i in withheld]
        then = self.ask("findings", [self.review(o) for o in wanted])
        for i, obj, answer in zip(withheld, wanted, then):
            before = {f["fingerprint"] for f in answers[i]["findings"]}
            if any(f["patches"] or f["fingerprint"] not in before
                   for f in answer["findings"]):
                self.listed["not patched: it would bring a finding"] += 1
                continue
            self.say(is_in_git(obj), i, "not patched")
            self.listed["not patched: kept in git"] += 1
        return set(withheld)

    def check_repairs(self, jobs, answers, made):
        def repaired(i):
            select = self.asked(answers[i])
            self.listed["repaired"] += bool(answers[i]["patched"])
            self.listed["repaired by name"] += bool(select)
            return (*self.fix(i, select), self.krm(i, select))

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(repaired, jobs))
        returned = {pathlib.Path(name).stem: json.loads(line)
                    for name, line in dumped(self.build, self.work, [".krm"])}
        for i, (fixed, left, status) in zip(jobs, results):
            self.check_patch(i, fixed, answers[i]["patched"], made[i], left)
            if isinstance(self.objects[i].get("metadata"), dict):
                self.check_krm(i, fixed, left, status,
                               returned.get("%05d" % i, {}))

    @staticmethod
    def asked(answer):
        """Return the options that select the webhook's rules. Some repairs are
        safe for some pods only, and the webhook makes them for all if the
        policy names the rule; lint then needs the rules by name."""
        if all(f["safe"] == f["patches"] for f in answer["findings"]):
            return ()
        rules = {f["rule"] for f in answer["findings"] if f["patches"]}
        return ("--select", ",".join(sorted(rules)) or "invalid-syntax")

    def check_patch(self, i, fixed, wanted, made, left):
        wanted = wanted or self.objects[i]
        if bare(fixed) != bare(wanted) and left.summary["placeholders"]:
            self.listed["another repair: placeholders"] += 1
            return
        self.say(bare(fixed) == bare(wanted), i, "lint --fix differs")
        self.say(bare(made) == bare(wanted), i, "/mutate differs")

    def check_krm(self, i, fixed, left, status, answer):
        said = sorted(r["message"] for r in answer.get("results") or [])
        wanted = sorted(f["message"] for f in left.findings)
        self.say(answer.get("items") == [fixed], i, "krm repairs differ")
        self.say(said == wanted, i, "krm says %s not %s" % (said, wanted))
        self.say(status == left.status, i, "krm exits %d not %d" % (
            status, left.status))

    def check_spoke(self):
        """Check that rules of the setting report something; silence would show nothing."""
        if self.setting == "state":
            self.say(NEEDS_STATE <= self.spoke, "-",
                     "silent: %s" % (NEEDS_STATE - self.spoke))
        if self.setting == "rules":
            self.say(len(self.objects) >= 200 and len(self.spoke) >= 10, "-",
                     "%d objects, rules that spoke: %s" % (
                         len(self.objects), self.spoke))

    def tell(self, seed):
        for i, what in self.failed[:SHOWN]:
            print("FAILED %s, seed %d, %s: %s" % (
                self.setting, seed, self.work / ("%05d.json" % i)
                if isinstance(i, int) else i, what))
        print("%s: %d objects: %s" % (
            self.setting, len(self.objects), ", ".join(
                "%d %s" % (n, w) for w, n in sorted(self.listed.items()))))
        print("%s: %d passed, %d failed" % (
            self.setting, self.held, len(self.failed)))


class Suppressions(Trial):
    """Objects that suppress the webhook's findings."""

    def run(self):
        self.prepare()
        found = self.ask("findings", [self.review(o) for o in self.objects])
        ways = itertools.cycle(suppressing.WAYS)
        plain, self.objects, self.ways = self.objects, [], []
        for obj, answer in zip(plain, found):
            for way in itertools.islice(ways, 2 * bool(answer["findings"])):
                made = suppressing.suppressed(obj, answer["findings"], way)
                if made:
                    self.objects.append(made)
                    self.ways.append(way)
        super().run()
        self.say(not set(suppressing.WAYS) - set(self.ways), "-", "a way that "
                 "no object took")

    def check_findings(self, i, linted, webhook):
        """Check that lint and the webhook have the same findings, suppressed and not, except
        for reports about expired and unused suppressions."""
        if linted.in_files_only:
            self.listed["fragments and placeholders"] += 1
            return False
        apart = {"object-duplicate", "suppression-unused", *OF_SERVER}
        if self.ways[i] == "expired":
            apart.add("suppression-refused")

        def is_apart(f):
            return f["rule"] in apart or (
                f["rule"] == "suppression-refused" and any(
                    f["message"].startswith("`%s`" % r) for r in OF_SERVER))

        lint = sorted(named(f) for f in linted.findings if not is_apart(f))
        mine = sorted(named(f) for f in webhook["findings"]
                      if not f["suppressed"] and not is_apart(f))
        self.say(lint == mine, i, "%s: only lint %s, only webhook %s" % (
            self.ways[i], [x for x in lint if x not in mine][:2],
            [x for x in mine if x not in lint][:2]))
        lint = sorted(s["rule"] for s in linted.suppressed
                      if s["rule"] not in OF_SERVER)
        mine = sorted(f["rule"] for f in webhook["findings"]
                      if f["suppressed"] and f["rule"] not in OF_SERVER)
        self.say(lint == mine, i, "%s: suppressed by lint %s, by the webhook "
                 "%s" % (self.ways[i], lint, mine))
        self.listed["suppressed"] += bool(mine)
        self.listed["refused"] += any(f["rule"] == "suppression-refused"
                                      for f in webhook["findings"])
        return lint == mine

    def check_verdict(self, i, made, linted, answer):
        super().check_verdict(i, made, linted, answer)
        if not self.ways[i].startswith("a comment"):
            return
        text = suppressing.lines(self.objects[i])
        path = self.work / ("%05d.yaml" % i)
        path.write_text(text, "utf-8")
        linted = self.lint(path)
        path.write_text(suppressing.commented(
            text, linted.findings, self.ways[i]), "utf-8")
        with_comments = self.lint(path)
        self.listed["suppressed by comment"] += bool(with_comments.suppressed)
        self.listed["comments refused"] += any(
            f["rule"] == "suppression-refused"
            for f in with_comments.findings)
        super().check_verdict(i, self.objects[i], with_comments, answer)


def as_sent(obj):
    """Return the object as the API server sends it: a Job without labels gets those of
    its template (SetDefaults_Job), and empty texts in the spec of a Pod are absent
    (omitempty). Custom rules read both."""
    what = obj.get("apiVersion"), obj["kind"]
    spec, meta = obj.get("spec"), obj.get("metadata") or {}
    if what == ("v1", "Pod") and isinstance(spec, dict):
        return {**obj, "spec": {k: v for k, v in spec.items() if v != ""}}
    if what != ("batch/v1", "Job") or meta.get("labels"):
        return obj
    template = (spec or {}).get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    return {**obj, "metadata": {**meta, "labels": labels}} if labels else obj


def main():
    build, folder, work = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    number, seed, every = (int(n) for n in sys.argv[4:7])
    found = [o for _, line in dumped(build, folder) for o in objects_of(line)]
    changed = random_objects(list(documents(build, folder)), number,
                      random.Random(seed))
    failed = 0
    for setting in sys.argv[7:]:
        objects = found + changed
        if setting == "rules":
            objects = [o for _, line in dumped(build, EXAMPLES / "tests")
                       for o in objects_of(line)]
            objects += [as_sent(o) for o in found[::3]]
        place = work / setting
        place.mkdir()
        kind = Suppressions if setting == "suppressions" else Trial
        trial = kind(build, place, setting, objects, every)
        trial.run()
        trial.check_spoke()
        trial.tell(seed)
        failed += len(trial.failed)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
