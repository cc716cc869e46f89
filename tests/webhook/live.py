#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test the live cluster state with an API server that fails in many ways.

usage: live.py LIVE_TOOL [NAME...]      (the tests of that name only)
"""
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import live_credentials
import live_software
from live_case import HERE, SLOW, TOOL, Case, check, fresh, late, normal, pods, quotas, three
import live_server
from live_server import certificates


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
    c.until("the list arrives", lambda s: quotas(s) == 3)
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
    """Check that a list whose `continue` token expires is read again in one page."""
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
    """Check that a list that arrives byte by byte delays no other list."""
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
    s = c.run(stall=400, first=1000).until("the other lists", lambda s: pods(s) == 3)
    check("the state names the missing kind", "resourcequotas." in s["unreadable"], s)
    c.until("the state names the reason", lambda s: "incomplete after" in s["unreadable"].get("resourcequotas.", ""))
    slow.clear()
    c.until("the list arrives", lambda s: quotas(s) == 3)


def test_retry_after(c):
    three(c)
    told = []

    def fault(h, plural, watch, query):
        if plural == "pods" and not watch and len(told) < 1:
            told.append(time.monotonic())
            return h.status(429, "too many requests", [("Retry-After", "2")])
        return False
    c.server.fault = fault
    s = c.run(first=700).until("the other kinds are read first", lambda s: quotas(s) == 3)
    check("the state names the missing kind", "429" in s["unreadable"].get("pods.", ""), s)
    c.until("all kinds are read", lambda s: pods(s) == 3 and not s["unreadable"])
    waited = c.listed("pods")[1][0] - told[0]
    check("the wait was as requested", 2 <= waited < 4 * SLOW, waited)


def test_truncated(c):
    """Check that an incomplete line is not taken for an event."""
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
    c.until("the whole event arrives", lambda s: len(cut) == 3 and c.hard("q-1") == "70", 15)
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
    c.until("the event arrives after invalid lines", lambda s: len(sent) == len(lines) and c.hard("q-1") == "60")
    check("listed again after three", c.status()["relists"] == 1, c.status())


def test_no_list(c):
    """Check that a response that is not a list never becomes the state."""
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
    c.run().until("the valid list is read", lambda s: quotas(s) == 3 and not s["unreadable"], 15)
    check("all were tried", len(sent) == len(bodies), len(sent))


def test_list_breaks_off(c):
    """Check that the state keeps all old objects while a new list fails."""
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
    check("nothing is lost", quotas(s) == 9 and
          s["relists"] <= len(live_server.KINDS), s)
    c.server.fault = None
    c.until("the complete new list is used", lambda s: quotas(s) == 8)


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
    check("the change is not known yet", c.hard("q-1") == "2", c.hard("q-1"))
    mute.clear()
    c.until("a silent watch is restarted", lambda s: c.hard("q-1") == "50")


def test_idle_is_alive(c):
    """Check that a restarted watch counts as alive without a bookmark or an event."""
    three(c)
    c.server.bookmark = 1000
    c.run(stall=3000).until("all", lambda s: quotas(s) == 3)
    time.sleep(9)
    s = c.status()
    check("the state is young", s["age"] <= 6 and s["relists"] == 0, s)


def test_max_age(c):
    """Check that the state of a cluster without changes is published again before
    it is older than a low maxAge."""
    three(c)
    c.server.bookmark = 1000
    c.run(max_age=6000).until("all", lambda s: quotas(s) == 3)
    oldest = 0
    for _ in range(100):
        time.sleep(0.15)
        oldest = max(oldest, int(time.time()) - c.status()["taken_at"])
    check("never too old", oldest <= 6 and c.status()["relists"] == 0, oldest)


def test_forbidden(c):
    three(c)
    c.server.fault = lambda h, plural, watch, query: plural == "resourcequotas" and h.status(
        403, 'resourcequotas is forbidden: User "x" cannot list')
    s = c.run().until("the others", lambda s: pods(s) == 3)
    check("the state names the reason", "403" in s["unreadable"].get("resourcequotas.", ""), s)
    check("the other kinds were not delayed", s["age"] <= 3, s)
    c.until("the log names the reason", lambda s: "cannot list" in c.text())
    c.server.fault = None
    c.until("once it is allowed", lambda s: quotas(s) == 3 and not s["unreadable"])
    c.server.fault = lambda h, plural, watch, query: plural == "resourcequotas" and h.status(403, "no more")
    c.server.stop()
    c.server.start()
    c.until("a kind is forbidden later", lambda s: "resourcequotas." in s["unreadable"])


def test_starting_server(c):
    """Check that the first answers of a restarted server do not remove objects from
    the state: it forbids requests that it allows later, and knows no CRDs."""
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
        c.until("the change soon arrives", lambda s, n=str(70 + times): c.hard("q-1") == n, 4)
    s = c.status()
    check("other watches continue without a new list", len(c.listed("resourcequotas")) == 1, c.listed("resourcequotas"))
    check("the log reports nothing", "cannot read" not in c.text(), c.text())


def test_busy_after_outage(c):
    """Check that the long backoff of an outage does not continue when the server
    answers again, even if it first answers that it is busy."""
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
    c.until("the change soon arrives", lambda s: c.hard("q-1") == "80", 12)
    c.until("the state is young", lambda s: s["age"] < 4, 4)


def test_forbidden_at_first(c):
    """Check that kinds that the server forbids at first are soon read, also if there is no earlier state."""
    three(c)
    end = time.monotonic() + 1
    c.server.fault = lambda h, plural, watch, query: time.monotonic() < end and h.status(403, "not yet")
    c.run(absent=60000).until("all", lambda s: quotas(s) == 3 and pods(s) == 3 and not s["unreadable"], 6)


def test_crd_comes_and_goes(c):
    three(c)
    c.server.absent = {"deviceclasses"}
    c.server.put("deviceclasses", "gpu", spec={"extendedResourceName": "nvidia.com/gpu"})
    s = c.run().until("the other kinds", lambda s: quotas(s) == 3)
    check("absent is not unreadable", s["unreadable"] == {}, s)
    c.server.absent = set()
    c.until("the new CRD is read", lambda s: s["counts"].get("deviceclasses.resource.k8s.io") == 1)
    c.server.absent = {"deviceclasses"}
    c.server.stop()
    c.server.start()
    s = c.until("the objects of a removed CRD are gone", lambda s: s["counts"].get("deviceclasses.resource.k8s.io") == 0)
    check("a removed CRD is not unreadable", s["unreadable"] == {}, s)


def test_older_version(c):
    """Test a server that has only an older version of a kind."""
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
    check("the kind is DeviceClass", base[1] == "DeviceClass")


def test_nonsense(c):
    """Test a quota with an invalid quantity: the last good one stays, with a log line."""
    three(c)
    c.run().until("all", lambda s: quotas(s) == 3)
    c.server.quota("q-1", "ns-1", "12x")
    c.server.quota("q-2", "ns-2", "33")
    c.until("others go on", lambda s: c.hard("q-2") == "33")
    check("the last good one", c.hard("q-1") == "2", c.hard("q-1"))
    check("the log names the quantity", "12x" in c.text(), c.text())
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
    c.until("a line that is too long is cut, and the watch restarted", lambda s: pods(s) == 4)


def test_clock(c):
    """Test steps of the wall clock: they do not change ages and waits, but the time
    in the state follows them."""
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
        c.until("the state has the new time", lambda s, at=seconds: abs(s["taken_at"] - time.time() - at) < 10)
        s = c.status()
        check("the age is the same", s["age"] <= 2 and quotas(s) == 3, s)
        c.server.quota("q-1", "ns-1", str(100 + abs(seconds) + (seconds > 0)))
        c.until("changes come", lambda s, n=str(100 + abs(seconds) + (seconds > 0)): c.hard("q-1") == n)


def test_many_pods(c):
    """Measure memory and time with 100,000 pods."""
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


def test_rate(c):
    """Test 50,000 objects and 1,000 changes per second; the server stops three times."""
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
    found = {**globals(), **vars(live_credentials), **vars(live_software)}
    tests = {k[5:]: v for k, v in found.items() if k.startswith("test_") and (not names or k[5:] in names)}
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
