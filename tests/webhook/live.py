#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live cluster state against an API server that fails in all ways it can.

usage: live.py LIVE_TOOL [NAME...]      (the tests of that name only)
"""
import base64
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from live_server import FakeServer, certificates

TOOL = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
SLOW = float(os.environ.get("LIVE_PATIENCE", "1"))


class Failed(Exception):
    pass


def check(what, good, detail=""):
    if not good:
        raise Failed(f"{what}: {detail}")


def b64(path):
    with open(path, "rb") as f:
        return base64.b64encode(f.read()).decode()


class Case:
    """A server, a kubeconfig and the tool, each begun when it is wanted."""

    def __init__(self, certs):
        self.certs = certs
        self.dir = tempfile.mkdtemp(prefix="live-")
        self.server = FakeServer(certs).start()
        self.tool = None
        self.log = os.path.join(self.dir, "log")

    def end(self):
        """The tool goes at once, without a leak or a sanitizer's complaint."""
        if self.tool:
            self.ask("quit", False)
            code = self.tool.wait(10 * SLOW)
            stopped = [int(line.split()[2]) for line in self.text().splitlines() if line.startswith("stopped in ")]
            check("a clean end", code == 0 and "Sanitizer" not in self.text(), self.text()[-3000:])
            check("within a second", stopped and stopped[0] < 1000 * SLOW, stopped)

    def close(self):
        if self.tool and self.tool.poll() is None:
            self.tool.kill()
            self.tool.wait()
        self.server.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def kubeconfig(self, user=None, cluster=None):
        path = os.path.join(self.dir, "kubeconfig")
        user = user or {"client-certificate-data": b64(self.certs + "/client.crt"),
                        "client-key-data": b64(self.certs + "/client.key")}
        cluster = {"server": f"https://127.0.0.1:{self.server.port}",
                   "certificate-authority-data": b64(self.certs + "/ca.crt"), **(cluster or {})}
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "a",
                       "contexts": [{"name": "a", "context": {"cluster": "b", "user": "c"}}],
                       "clusters": [{"name": "b", "cluster": cluster}],
                       "users": [{"name": "c", "user": user}]}, f)
        return path

    def run(self, config=None, env=None, **times):
        times = {"first": 5000, "publish": 50, "retry": 100, "retry_max": 1000, "absent": 600, **times}
        with open(self.log, "ab") as log:
            self.tool = subprocess.Popen(
                [TOOL, config or self.kubeconfig(), *(f"{k}={v}" for k, v in times.items())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **(env or {})})
        return self

    def ask(self, command, answer=True):
        self.tool.stdin.write(command + "\n")
        self.tool.stdin.flush()
        return self.tool.stdout.readline() if answer else ""

    def status(self):
        return json.loads(self.ask("status"))

    def until(self, what, test, seconds=8):
        end = time.monotonic() + seconds * SLOW
        while True:
            s = self.status()
            if test(s):
                return s
            check(what, time.monotonic() < end, json.dumps(s) + "\n" + self.text()[-2000:])
            time.sleep(0.05)

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def state(self):
        path = os.path.join(self.dir, "state")
        self.ask("write " + path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def hard(self, name):
        for item in self.state()["items"]:
            if item["metadata"]["name"] == name and item["kind"] == "ResourceQuota":
                return item["spec"]["hard"]["requests.nvidia.com/gpu"]
        return None

    def watched(self, plural):
        return [r for r in self.server.requests if r[1] == plural and r[2]]

    def listed(self, plural):
        return [r for r in self.server.requests if r[1] == plural and not r[2]]


def quotas(s):
    return s["counts"].get("resourcequotas.", -1)


def pods(s):
    return s["counts"].get("pods.", -1)


def three(c):
    for i in range(3):
        c.server.put("namespaces", f"ns-{i}")
        c.server.quota(f"q-{i}", f"ns-{i}", str(i + 1))
        c.server.pod(f"p-{i}", f"ns-{i}", "1")


# --- the tests --------------------------------------------------------------


def test_changes(c):
    three(c)
    c.run().until("all is there", lambda s: quotas(s) == 3 and pods(s) == 3)
    c.server.quota("q-1", "ns-1", "80")
    c.server.quota("q-9", "ns-1", "9")
    c.server.remove("pods", "p-0", "ns-0")
    c.until("changes come", lambda s: quotas(s) == 4 and pods(s) == 2)
    check("the new figure", c.hard("q-1") == "80", c.hard("q-1"))
    s = c.status()
    check("one list", s["relists"] == 0 and len(c.listed("pods")) == 1, s)
    check("nothing else is missing", s["unreadable"] == {}, s)


def test_pages(c):
    for i in range(11):
        c.server.quota(f"q-{i}", "a", "1")
    c.run(page=3).until("all pages", lambda s: quotas(s) == 11)
    check("four pages", len(c.listed("resourcequotas")) == 4, c.listed("resourcequotas"))


def test_absent_at_start(c):
    three(c)
    c.server.stop()
    c.run(first=700)
    s = c.until("nobody waits for ever", lambda s: s["first"])
    check("there is no state", s["age"] == -1 and not s["counts"], s)
    time.sleep(0.5)
    c.server.start()
    c.until("then it comes", lambda s: quotas(s) == 3)
    check("told once", c.text().count("does not answer") == 1, c.text())
    check("and its end", c.text().count("answers again") == 1, c.text())


def test_gone_later(c):
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    for i in range(3):
        c.server.stop()
        s = c.until("it gets older", lambda s: s["age"] >= 2)
        check("what was there stays", quotas(s) == 3 + i, s)
        c.server.quota(f"more-{i}", "ns-0", "5")
        c.server.start()
        s = c.until("it goes on", lambda s, i=i: quotas(s) == 4 + i and s["age"] <= 1)
    check("from where it was", s["relists"] == 0, s)


def test_gone_event(c):
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    c.server.stop()
    c.server.remove("resourcequotas", "q-1", "ns-1")
    c.server.compact()
    c.server.quota("q-7", "ns-1", "7")
    c.server.start()
    c.until("what is gone is gone", lambda s: s["relists"] >= 1 and c.hard("q-1") is None and c.hard("q-7") == "7")


def test_gone_status(c):
    three(c)
    gone = []

    def fault(h, plural, watch, query):
        if plural == "resourcequotas" and watch and len(gone) < 2:
            gone.append(1)
            return h.status(410, "too old resource version")
        return False
    c.server.fault = fault
    c.run().until("all", lambda s: quotas(s) == 3)
    c.until("listed again", lambda s: s["relists"] == 2 and s["failures"] <= 2)


def test_gone_continue(c):
    for i in range(7):
        c.server.quota(f"q-{i}", "a", "1")
    gone = []

    def fault(h, plural, watch, query):
        if "continue" in query and not gone:
            gone.append(1)
            return h.status(410, "the provided continue parameter is too old")
        return False
    c.server.fault = fault
    c.run(page=3).until("all", lambda s: quotas(s) == 7)
    check("begun again", sum("continue" not in r[3] for r in c.listed("resourcequotas")) == 2)


def test_pages_that_never_end(c):
    """What changes faster than its pages are read is read in one piece."""
    for i in range(7):
        c.server.quota(f"q-{i}", "a", "1")
    c.server.fault = lambda h, plural, watch, query: "continue" in query and h.status(410, "too old")
    c.run(page=3).until("all", lambda s: quotas(s) == 7 and not s["unreadable"], 4)
    check("without a limit", any("limit" not in r[3] for r in c.listed("resourcequotas")))
    c.server.fault = None
    c.server.stop()
    c.server.quota("q-7", "a", "1")
    c.server.compact()
    c.server.start()
    c.until("the next", lambda s: quotas(s) == 8)
    check("has pages again", c.listed("resourcequotas")[-1][3].get("limit") == "3", c.listed("resourcequotas")[-3:])


def test_drip(c):
    """A list that comes byte by byte is no list; others are not held up."""
    three(c)
    slow = [True]

    def fault(h, plural, watch, query):
        if plural != "resourcequotas" or watch or not slow:
            return False
        h.begin_watch()
        while slow:
            h.chunk(b" ")
            time.sleep(0.1)
        return False
    c.server.fault = fault
    s = c.run(stall=400, first=1000).until("the others", lambda s: pods(s) == 3)
    check("what is missing is told", "resourcequotas." in s["unreadable"], s)
    c.until("and why", lambda s: "no end after" in s["unreadable"].get("resourcequotas.", ""))
    slow.clear()
    c.until("then it comes", lambda s: quotas(s) == 3)


def test_retry_after(c):
    three(c)
    told = []

    def fault(h, plural, watch, query):
        if plural == "pods" and not watch and len(told) < 1:
            told.append(time.monotonic())
            return h.status(429, "too many requests", [("Retry-After", "2")])
        return False
    c.server.fault = fault
    s = c.run(first=700).until("the rest is there first", lambda s: quotas(s) == 3)
    check("what is missing is told", "429" in s["unreadable"].get("pods.", ""), s)
    c.until("then all", lambda s: pods(s) == 3 and not s["unreadable"])
    waited = c.listed("pods")[1][0] - told[0]
    check("it waited as asked", 2 <= waited < 4 * SLOW, waited)


def test_truncated(c):
    """A line that breaks off is no event, and nothing is lost with it."""
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    cut = []

    def fault(h, plural, watch, query):
        if plural != "resourcequotas" or not watch or len(cut) >= 3:
            return False
        cut.append(query["resourceVersion"])
        event = c.server.events["resourcequotas"][-1]
        line = json.dumps(c.server.event("resourcequotas", *event[1:])).encode()
        h.begin_watch()
        time.sleep(1.1)
        h.chunk(line[:len(line) // 2])
        if len(cut) == 1:
            h.end_watch()
        h.close_connection = True
        return True
    c.server.fault = fault
    c.server.stop()
    c.server.quota("q-1", "ns-1", "70")
    c.server.start()
    c.until("it comes whole", lambda s: len(cut) == 3 and c.hard("q-1") == "70", 15)
    check("from the same version", len(set(cut)) == 1, cut)
    check("without a new list", c.status()["relists"] == 0)


def test_garbage(c):
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    lines = [b"{\"type\":\"ADDED\"\n", b"\xff\xfe\n", b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"}}\n",
             b"[]\n", b"{\"type\":\"WHAT\",\"object\":{\"kind\":\"ResourceQuota\",\"apiVersion\":\"v1\",\"metadata\":"
             b"{\"name\":\"x\",\"resourceVersion\":\"1\"}}}\n"]
    sent = []

    def fault(h, plural, watch, query):
        if plural != "resourcequotas" or not watch or len(sent) == len(lines):
            return False
        sent.append(1)
        h.begin_watch()
        h.chunk(lines[len(sent) - 1])
        h.end_watch()
        return True
    c.server.fault = fault
    c.server.stop()
    c.server.start()
    c.server.quota("q-1", "ns-1", "60")
    c.until("all the same", lambda s: len(sent) == len(lines) and c.hard("q-1") == "60")
    check("listed again after three", c.status()["relists"] == 1, c.status())


def test_no_list(c):
    """Answers of 200 that are no list never become the state."""
    bodies = [b"", b"{}", b"[]", b"<html>", b'{"items":[]}', b'{"items":[1],"metadata":{"resourceVersion":"1"}}',
              b'{"items":[{}', b'{"metadata":{"resourceVersion":"5"},"items":null', b"}{", b"\0\0"]
    three(c)
    sent = []

    def fault(h, plural, watch, query):
        if plural != "resourcequotas" or watch or len(sent) == len(bodies):
            return False
        sent.append(1)
        return h.answer(200, bodies[len(sent) - 1])
    c.server.fault = fault
    c.run().until("at last", lambda s: quotas(s) == 3 and not s["unreadable"], 15)
    check("all were tried", len(sent) == len(bodies), len(sent))


def test_list_breaks_off(c):
    """While a new list fails half way, the state is the old one, whole."""
    for i in range(9):
        c.server.quota(f"q-{i}", "a", "1")
    c.run(page=3).until("all", lambda s: quotas(s) == 9)
    c.server.fault = lambda h, plural, watch, query: "continue" in query and h.status(500, "no")
    c.server.stop()
    c.server.remove("resourcequotas", "q-8", "a")
    c.server.compact()
    c.server.start()
    time.sleep(1.5)
    s = c.status()
    check("nothing is lost", quotas(s) == 9 and s["relists"] < 9, s)
    c.server.fault = None
    c.until("then it is taken", lambda s: quotas(s) == 8)


def test_silence(c):
    three(c)
    mute = [True]

    def fault(h, plural, watch, query):
        if plural != "resourcequotas" or not watch or not mute:
            return False
        h.begin_watch()
        while mute:
            time.sleep(0.05)
        time.sleep(30)
        return True
    c.server.fault = fault
    c.run(stall=1000).until("all", lambda s: quotas(s) == 3)
    c.server.quota("q-1", "ns-1", "50")
    time.sleep(0.5)
    check("it cannot know yet", c.hard("q-1") == "2", c.hard("q-1"))
    mute.clear()
    c.until("it asks anew", lambda s: c.hard("q-1") == "50")


def test_idle_is_alive(c):
    """No bookmark, no event: a watch that is taken anew shows that it lives."""
    three(c)
    c.server.bookmark = 1000
    c.run(stall=3000).until("all", lambda s: quotas(s) == 3)
    time.sleep(9)
    s = c.status()
    check("its age says so", s["age"] <= 6 and s["relists"] == 0, s)


def test_forbidden(c):
    three(c)
    c.server.fault = lambda h, plural, watch, query: plural == "resourcequotas" and h.status(
        403, 'resourcequotas is forbidden: User "x" cannot list')
    s = c.run().until("the others", lambda s: pods(s) == 3)
    check("told in the state", "403" in s["unreadable"].get("resourcequotas.", ""), s)
    check("nobody waited for it", s["age"] <= 3, s)
    c.until("told in the log", lambda s: "cannot list" in c.text())
    c.server.fault = None
    c.until("once it is allowed", lambda s: quotas(s) == 3 and not s["unreadable"])
    c.server.fault = lambda h, plural, watch, query: plural == "resourcequotas" and h.status(403, "no more")
    c.server.stop()
    c.server.start()
    c.until("and forbidden again", lambda s: "resourcequotas." in s["unreadable"])


def test_starting_server(c):
    """An API server that has just started forbids what it will allow, and
    knows no CRDs: that is not believed at once."""
    three(c)
    c.server.put("deviceclasses", "gpu", spec={"extendedResourceName": "nvidia.com/gpu"})
    c.run(absent=60000).until("all", lambda s: quotas(s) == 3)
    for times in range(2):
        end = time.monotonic() + 0.5

        def fault(h, plural, watch, query, end=end):
            if time.monotonic() > end:
                return False
            if plural == "deviceclasses":
                return h.status(404, "the server could not find the requested resource")
            return h.status(403, f"{plural} is forbidden: not yet")
        c.server.stop()
        c.server.quota("q-1", "ns-1", str(70 + times))
        c.server.fault = fault
        c.server.start()
        while time.monotonic() < end:
            s = c.status()
            check("nothing is lost", quotas(s) == 3 and not s["unreadable"] and
                  s["counts"]["deviceclasses.resource.k8s.io"] == 1, s)
            time.sleep(0.02)
        c.until("soon it goes on", lambda s, n=str(70 + times): c.hard("q-1") == n, 4)
    s = c.status()
    check("but for the CRD from where it was", len(c.listed("resourcequotas")) == 1, c.listed("resourcequotas"))
    check("nobody is told", "cannot read" not in c.text(), c.text())


def test_busy_after_outage(c):
    """What was waited for a server that was away is not waited for again once
    it answers, though it says first that it is busy."""
    three(c)
    c.run(retry=100, retry_max=60000).until("all", lambda s: quotas(s) == 3)
    c.server.stop()
    time.sleep(5)
    busy = {}

    def fault(h, plural, watch, query):
        busy[plural] = busy.get(plural, 0) + 1
        return busy[plural] <= 3 and h.status(503, "not yet")
    c.server.quota("q-1", "ns-1", "80")
    c.server.fault = fault
    c.server.start()
    c.until("soon it goes on", lambda s: c.hard("q-1") == "80", 12)
    c.until("and is young", lambda s: s["age"] < 4, 4)


def test_forbidden_at_first(c):
    """The same where nothing was read before: soon it is."""
    three(c)
    end = time.monotonic() + 1
    c.server.fault = lambda h, plural, watch, query: time.monotonic() < end and h.status(403, "not yet")
    c.run(absent=60000).until("all", lambda s: quotas(s) == 3 and pods(s) == 3 and not s["unreadable"], 6)


def test_crd_comes_and_goes(c):
    three(c)
    c.server.absent = {"deviceclasses"}
    c.server.put("deviceclasses", "gpu", spec={"extendedResourceName": "nvidia.com/gpu"})
    s = c.run().until("the rest", lambda s: quotas(s) == 3)
    check("absent is not unreadable", s["unreadable"] == {}, s)
    c.server.absent = set()
    c.until("it came", lambda s: s["counts"].get("deviceclasses.resource.k8s.io") == 1)
    c.server.absent = {"deviceclasses"}
    c.server.stop()
    c.server.start()
    s = c.until("it went", lambda s: s["counts"].get("deviceclasses.resource.k8s.io") == 0)
    check("that is no loss", s["unreadable"] == {}, s)


def test_older_version(c):
    """A server that has only an older version of a kind."""
    import live_server
    three(c)
    base = live_server.KINDS["deviceclasses"]
    c.server.put("deviceclasses", "gpu", spec={"extendedResourceName": "nvidia.com/gpu"})

    def fault(h, plural, watch, query):
        if plural != "deviceclasses":
            return False
        if "/v1beta1/" not in h.path:
            return h.status(404, "not that one")
        if watch:
            c.server.watch(h, plural, int(query["resourceVersion"]))
        else:
            c.server.list(h, plural, query)
        return True
    c.server.fault = fault
    c.run().until("found", lambda s: s["counts"].get("deviceclasses.resource.k8s.io") == 1)
    check("of the same kind", base[1] == "DeviceClass")


def test_nonsense(c):
    """A quota with a broken quantity: the last good one stays, and is told."""
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    c.server.quota("q-1", "ns-1", "12x")
    c.server.quota("q-2", "ns-2", "33")
    c.until("others go on", lambda s: c.hard("q-2") == "33")
    check("the last good one", c.hard("q-1") == "2", c.hard("q-1"))
    check("told", "12x" in c.text(), c.text())
    c.server.compact()
    c.server.stop()
    c.server.start()
    c.server.quota("q-0", "ns-0", "44")
    c.until("after a new list", lambda s: c.hard("q-0") == "44")
    check("still the last good one", c.hard("q-1") == "2", c.hard("q-1"))


def test_watch_that_ends_at_once(c):
    three(c)

    def fault(h, plural, watch, query):
        if not watch:
            return False
        h.begin_watch()
        h.end_watch()
        return True
    c.server.fault = fault
    c.run(retry=100, retry_max=1000).until("all", lambda s: quotas(s) == 3)
    time.sleep(3)
    n = len(c.watched("pods"))
    check("no busy loop", 3 <= n <= 12, n)


def test_token_file(c):
    three(c)
    token = os.path.join(c.dir, "token")
    with open(token, "w", encoding="ascii") as f:
        f.write("one\n")
    wanted = ["Bearer one"]
    c.server.fault = lambda h, plural, watch, query: (
        h.headers.get("Authorization") != wanted[0] and h.status(401, "Unauthorized"))
    c.run(c.kubeconfig(user={"tokenFile": "token"})).until("all", lambda s: quotas(s) == 3)
    wanted[0] = "Bearer two"
    c.server.stop()
    with open(token + ".new", "w", encoding="ascii") as f:
        f.write("two")
    os.rename(token + ".new", token)
    c.server.quota("q-1", "ns-1", "21")
    c.server.start()
    c.until("the new token", lambda s: c.hard("q-1") == "21")
    os.unlink(token)
    c.server.stop()
    c.server.quota("q-1", "ns-1", "22")
    c.server.start()
    c.until("the last one while the file is away", lambda s: c.hard("q-1") == "22")


def plugin(c, text):
    path = os.path.join(c.dir, "plugin")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "args": ["a b", "c"],
                     "env": [{"name": "WHO", "value": "me"}], "provideClusterInfo": True,
                     "interactiveMode": "IfAvailable", "installHint": "get the plugin"}}


def test_exec(c):
    three(c)
    user = plugin(c, """
echo "$@ $WHO $KUBERNETES_EXEC_INFO" >>"$(dirname "$0")/said"
n=$(wc -l <"$(dirname "$0")/said")
at=$(date -u -d "+64 seconds" +%Y-%m-%dT%H:%M:%SZ)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t%s","expirationTimestamp":"%s"}}' "$n" "$at"
""")
    seen = set()

    def fault(h, plural, watch, query):
        seen.add(h.headers.get("Authorization"))
        return False
    c.server.fault = fault
    c.run(c.kubeconfig(user=user)).until("all", lambda s: quotas(s) == 3)
    with open(os.path.join(c.dir, "said"), encoding="utf-8") as f:
        said = f.read()
    check("asked once", said.count("\n") == 1, said)
    check("arguments, environment, cluster", said.startswith("a b c me {") and "certificate-authority-data" in said, said)
    check("its token", seen == {"Bearer t1"}, seen)
    time.sleep(4.5)
    c.server.stop()
    c.server.start()
    c.server.quota("q-1", "ns-1", "31")
    c.until("renewed before it ends", lambda s: c.hard("q-1") == "31" and "Bearer t2" in seen)


def test_exec_refused(c):
    """A 401 makes the plugin be asked again."""
    three(c)
    user = plugin(c, """
echo x >>"$(dirname "$0")/said"
printf '{"status":{"token":"t%s"}}' "$(wc -l <"$(dirname "$0")/said")"
""")
    c.server.fault = lambda h, plural, watch, query: (
        h.headers.get("Authorization") == "Bearer t1" and h.status(401, "Unauthorized"))
    c.run(c.kubeconfig(user=user)).until("all", lambda s: quotas(s) == 3)


def test_exec_fails(c):
    three(c)
    c.run(c.kubeconfig(user=plugin(c, "echo no luck >&2; exit 3\n")), first=500)
    c.until("not for ever", lambda s: s["first"])
    end = time.monotonic() + 5 * SLOW
    while "no luck" not in c.text() and time.monotonic() < end:
        time.sleep(0.1)
    check("its own words", "no luck" in c.text() and "get the plugin" in c.text(), c.text())


def test_wrong_authority(c):
    three(c)
    c.run(c.kubeconfig(cluster={"certificate-authority-data": b64(c.certs + "/other.crt")}), first=500)
    s = c.until("not for ever", lambda s: s["first"])
    check("no state from a stranger", not s["counts"], s)
    check("told", "certificate" in c.text(), c.text())
    check("no request came", not c.server.requests, c.server.requests)


def test_server_name(c):
    three(c)
    c.run(c.kubeconfig(cluster={"tls-server-name": "fake.test"})).until("all", lambda s: quotas(s) == 3)


def test_wrong_server_name(c):
    c.run(c.kubeconfig(cluster={"tls-server-name": "else.test"}), first=500)
    s = c.until("not for ever", lambda s: s["first"])
    check("no state", not s["counts"] and not c.server.requests, s)


def test_redirect(c):
    other = FakeServer(c.certs).start()
    c.server.fault = lambda h, plural, watch, query: h.answer(
        302, b"", [("Location", f"https://127.0.0.1:{other.port}{h.path}")])
    c.run(first=500).until("not for ever", lambda s: s["first"])
    check("not followed", not other.requests, other.requests)
    other.stop()


def test_long_line(c):
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    sent = []

    def fault(h, plural, watch, query):
        if plural != "pods" or not watch or sent:
            return False
        sent.append(1)
        h.begin_watch()
        try:
            for _ in range(20):
                h.chunk(b"x" * (1 << 20))
        except OSError:
            pass
        h.close_connection = True
        return True
    c.server.fault = fault
    c.server.stop()
    c.server.pod("p-9", "ns-0", "1")
    c.server.start()
    c.until("cut off, and on", lambda s: pods(s) == 4)


def test_clock(c):
    """Steps of the clock: no age, no waiting, and the state's time with it."""
    step = os.path.join(c.dir, "step")
    library = os.path.join(c.dir, "clock.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "live_clock.c")], check=True)
    with open(step, "w", encoding="ascii") as f:
        f.write("0")
    three(c)
    c.run(env={"LD_PRELOAD": library, "CLOCK_STEP_FILE": step}).until("all", lambda s: quotas(s) == 3)
    for seconds in (86400, -86400):
        with open(step, "w", encoding="ascii") as f:
            f.write(str(seconds))
        c.until("the time is told anew", lambda s, at=seconds: abs(s["taken_at"] - time.time() - at) < 10)
        s = c.status()
        check("the age is the same", s["age"] <= 2 and quotas(s) == 3, s)
        c.server.quota("q-1", "ns-1", str(100 + abs(seconds) + (seconds > 0)))
        c.until("changes come", lambda s, n=str(100 + abs(seconds) + (seconds > 0)): c.hard("q-1") == n)


def test_many_pods(c):
    """100,000 pods: memory and time."""
    page = {}
    filler = [{"name": f"V{i}", "value": "x" * 40} for i in range(20)]

    def fault(h, plural, watch, query):
        if plural != "pods" or watch:
            return False
        start = int(query.get("continue", "0"))
        if "body" not in page:
            page["body"] = json.dumps([{
                "metadata": {"name": f"pod-@-{i}", "namespace": f"ns-{i % 50}", "labels": {"app": "train"},
                             "managedFields": [{"manager": "m", "fieldsV1": {"f:metadata": {"f:labels": {}}}}] * 4,
                             "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": f"job-@-{i % 50}",
                                                  "uid": "x", "controller": True}]},
                "spec": {"containers": [{"name": "c", "image": "x", "env": filler,
                                         "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "8"}}}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}] * 5},
            } for i in range(500)]).encode()
        more = f',"continue":"{start + 1}"'.encode() if start < 199 else b""
        body = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"90"%s},"items":%s}' % (
            more, page["body"].replace(b"@", str(start).encode()))
        page["bytes"] = page.get("bytes", 0) + len(body)
        return h.answer(200, body)
    c.server.fault = fault
    before = time.monotonic()
    c.run(first=60000).until("all are counted", lambda s: pods(s) == 100000, 60)
    s = c.status()
    print(f"100,000 pods, {page['bytes'] >> 20} MiB of lists: {time.monotonic() - before:.1f} s, "
          f"{s['rss'] >> 10} MiB resident")
    check("small", s["rss"] < 64 << 10, s["rss"])


def normal(path):
    """A state as it is compared: not when it was taken, nor which node of a
    group that are alike is named."""
    with open(path, encoding="utf-8") as f:
        state = json.load(f)
    state.pop("takenAt", None)
    for item in state["items"]:
        if item["kind"] == "Node":
            item["metadata"].pop("name")
            item["metadata"]["labels"].pop("kubernetes.io/hostname", None)
    state["items"].sort(key=lambda item: json.dumps(item, sort_keys=True))
    return state


def fresh(config, path):
    """Write the state that a new list gives."""
    subprocess.run([TOOL, config], input=f"wait\nwrite {path}\nquit\n", text=True, check=True, capture_output=True,
                   timeout=120 * SLOW)
    return normal(path)


def late(status):
    """Verdicts that took more than 5 ms; and of a door without updates."""
    now, still = status["now"], status["still"]
    check("verdicts were given", now["verdicts"] > 100 and now["status"] == 200, status)
    print(f"verdicts {now['verdicts']}: {now['late']} later than 5 ms, longest {now['longest_us'] / 1000:.1f} ms; "
          f"without updates {still['verdicts']}: {still['late']}, longest {still['longest_us'] / 1000:.1f} ms")
    check("updates block no verdict", now["late"] <= 5 + 2 * still["late"], status)


def test_rate(c):
    """50,000 objects and 1,000 changes a second; the server goes three times."""
    seconds = float(os.environ.get("LIVE_SECONDS", "5"))
    server, chance = c.server, random.Random(7)
    for i in range(500):
        server.put("namespaces", f"ns-{i}")
        server.put("nodes", f"n-{i}", metadata={"labels": {"pool": f"p-{i % 5}"}},
                   status={"allocatable": {"nvidia.com/gpu": "8", "cpu": "96"}})
    for i in range(5000):
        server.quota(f"q-{i}", f"ns-{i % 500}", "8")
    for i in range(44000):
        server.pod(f"p-{i}", f"ns-{i % 500}", str(1 + i % 8))
    server.compact()
    began = time.monotonic()
    c.run(first=60000).until("50,000 objects", lambda s: pods(s) == 44000 and quotas(s) == 5000, 60)
    loaded = time.monotonic() - began
    c.ask("forget")
    before, began, done, cuts = c.status(), time.monotonic(), 0, 0
    while (now := time.monotonic() - began) < seconds:
        while done < now * 1000:
            done += 1
            i = chance.randrange(44000)
            what = chance.randrange(10)
            if what < 4:
                server.quota(f"q-{i % 5000}", f"ns-{i % 500}", str(chance.randrange(1000)))
            elif what < 5:
                server.put("nodes", f"n-{i % 500}", metadata={"labels": {"pool": f"p-{chance.randrange(5)}"}},
                           status={"allocatable": {"nvidia.com/gpu": "8", "cpu": "96"}})
            elif (f"ns-{i % 500}", f"p-{i}") in server.store["pods"]:
                server.remove("pods", f"p-{i}", f"ns-{i % 500}")
            else:
                server.pod(f"p-{i}", f"ns-{i % 500}", str(1 + chance.randrange(8)))
        if now > seconds * (cuts + 1) / 4:
            cuts += 1
            server.stop()
            if cuts == 2:
                server.compact()
            server.start()
        time.sleep(0.005)
    middle = c.until("it is all there", lambda s: quotas(s) == 5000 and pods(s) == len(server.store["pods"]), 20)
    time.sleep(1)
    end = c.status()
    c.ask("write " + c.dir + "/now")
    equal = normal(c.dir + "/now") == fresh(c.kubeconfig(), c.dir + "/fresh")
    print(f"50,000 objects in {loaded:.1f} s; {done} changes in {seconds:.0f} s, the server gone 3 times, "
          f"{end['events']} events, {end['relists']} lists anew, {end['published']} states; resident "
          f"{before['rss'] / 1024:.1f} -> {end['rss'] / 1024:.1f} MiB; equal to a fresh list: {equal}")
    late(end)
    check("equal", equal)
    check("listed anew after 410", middle["relists"] >= 1, middle)
    check("flat", end["rss"] < before["rss"] * 1.25 + 4096, (before["rss"], end["rss"]))


def main():
    names = sys.argv[2:]
    tests = {k[5:]: v for k, v in globals().items() if k.startswith("test_") and (not names or k[5:] in names)}
    failed = 0
    with open(TOOL, "rb") as f:
        if b"__asan_init" in f.read():
            print("skip: clock, many_pods, rate: not with a sanitizer")
            tests = {k: v for k, v in tests.items() if k not in ("clock", "many_pods", "rate")}

    def one(name):
        case = Case(certs)
        try:
            tests[name](case)
            case.end()
            return name, None
        except Exception as why:  # pylint: disable=broad-except
            return name, f"{type(why).__name__}: {why}"
        finally:
            case.close()

    with tempfile.TemporaryDirectory() as certs:
        certificates(certs)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, why in pool.map(one, tests):
                if why:
                    failed += 1
                    print(f"FAILED {name}: {why}")
    print(f"live faults: {len(tests) - failed} of {len(tests)} pass")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
