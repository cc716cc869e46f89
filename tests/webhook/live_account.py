#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run gpugated with the service account and the ClusterRole of deploy/ on a
real API server. Check the state that it reads, and its findings while the
server is down, after a long sleep, and after the permissions were removed.

usage: live_account.py GPUGATED CLUSTER-FOLDER CLOCK.so RESTART PORT PORT

RESTART is a command that kills the API server and starts it again.
"""
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from apiserver import Server, Webhook  # noqa: E402
from review import review  # noqa: E402

program, folder, clock, restart = sys.argv[1:5]
ports = [int(p) for p in sys.argv[5:]]
ACCOUNT = "system:serviceaccount:gpugate-system:gpugate"
RULE = "quota-never-fits"
passed = failed = 0
admin = Server(folder)


def say(good, what, *more):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, *(str(m)[:900] for m in more), flush=True)


def until(seconds, what, check):
    end = time.monotonic() + seconds
    while not (value := check()):
        if time.monotonic() > end:
            say(False, f"{what} within {seconds} s")
            return value
        time.sleep(0.1)
    say(True, what)
    return value


# --- the webhook -----------------------------------------------------------

hook = Webhook(program, folder, "127.0.0.1", ports,
               "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n")


def start():
    for name, file in (("SLEEP", "sleep"), ("STEP", "step")):
        with open(f"{folder}/{file}", "w", encoding="ascii") as out:
            out.write("0")
        os.environ[f"CLOCK_{name}_FILE"] = f"{folder}/{file}"
    os.environ["LD_PRELOAD"] = clock
    # The library of the test's clock opens files, which the sandbox forbids.
    hook.start("--kubeconfig", folder + "/account.kubeconfig", "--live", "on",
               "--sandbox", "off")
    del os.environ["LD_PRELOAD"]


def set_clock(file, seconds):
    with open(f"{folder}/{file}.new", "w", encoding="ascii") as out:
        out.write(str(seconds))
    os.rename(f"{folder}/{file}.new", f"{folder}/{file}")


def gang(gpus):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": "train", "namespace": "ml"},
            "spec": {"runPolicy": {"backoffLimit": 1}, "pytorchReplicaSpecs": {
                "Worker": {"replicas": gpus, "template": {"spec": {
                    "containers": [{"name": "pytorch", "image": "busybox",
                                    "resources": {"limits": {
                                        "nvidia.com/gpu": 1}}}]}}}}}}


def ask(gpus):
    """Return whether the gang was allowed, and the message."""
    context = ssl.create_default_context(cafile=folder + "/certs/ca.crt")
    link = http.client.HTTPSConnection("127.0.0.1", ports[0], timeout=5,
                                       context=context)
    link.request("POST", "/validate", json.dumps(review(gang(gpus))),
                 {"Content-Type": "application/json"})
    answer = link.getresponse()
    body = json.loads(answer.read())["response"]
    link.close()
    return body["allowed"], body.get("status", {}).get("message", "")


def denies(gpus):
    allowed, message = ask(gpus)
    return not allowed and RULE in message


def kinds():
    return hook.probe("/metrics")[1].count("\ngpugate_cluster_objects{")


def age():
    return hook.metric("gpugate_cluster_state_age_seconds")


def said(text):
    with open(hook.log, encoding="utf-8") as log:
        return log.read().count(text)


# --- the API server ----------------------------------------------------------

def quota(gpus):
    admin.patch({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {
        "name": "gpus", "namespace": "ml"}}, {"spec": {"hard": {
            "requests.nvidia.com/gpu": str(gpus)}}})


def kill_server():
    with open(folder + "/kube-apiserver.pid", encoding="ascii") as pid:
        os.kill(int(pid.read().split()[0]), signal.SIGKILL)


def restart_server():
    say(subprocess.run(restart, shell=True, check=False).returncode == 0,
        "a restart")


def asked():
    """Return the set of the account's requests: (verb, path without its query,
    status)."""
    with open(folder + "/audit.log", encoding="utf-8") as log:
        events = [json.loads(line) for line in log if line.endswith("\n")]
    return {(e["verb"], e["requestURI"].split("?")[0],
             e.get("responseStatus", {}).get("code", 0))
            for e in events if e["user"].get("username") == ACCOUNT}


# --- the tests ---------------------------------------------------------------

def reads():
    admin.create({"apiVersion": "v1", "kind": "Namespace",
                  "metadata": {"name": "ml"}})
    admin.create({"apiVersion": "v1", "kind": "ResourceQuota",
                  "metadata": {"name": "gpus", "namespace": "ml"},
                  "spec": {"hard": {"requests.nvidia.com/gpu": "8"}}})
    start()
    until(20, "all kinds are read", lambda: kinds() == 30)
    say(denies(9) and ask(8)[0], "9 of 8 GPUs never fit", ask(9))
    quota(16)
    until(5, "a change is seen", lambda: ask(9)[0])
    say(denies(17), "17 of 16 GPUs never fit", ask(17))


def rights():
    """Check that only kinds of the ClusterRole are listed and watched, and
    that no request is rejected."""
    every = asked()
    refused = {a for a in every if a[2] in (401, 403)}
    say(not refused, "nothing is refused", sorted(refused))
    say({a[0] for a in every} <= {"list", "watch"}, "only lists and watches",
        every)
    plurals = {a[1].rsplit("/", 1)[1] for a in every}
    say(len(plurals) == 29, "29 names of 30 kinds", plurals)
    print(f"with the ClusterRole of deploy/: {len(every)} things asked, "
          f"{len(refused)} refused", flush=True)


def away():
    """Test that, while the server is down, the last state is used until it is too old
    for the policy."""
    kill_server()
    time.sleep(1)
    set_clock("sleep", 800)
    until(5, "the metric has its age", lambda: age() >= 800)
    say(denies(17) and ask(9)[0], "the last good state", ask(17))
    say(hook.ready(), "ready without a server")
    before = hook.metric("gpugate_rules_not_run", rule=RULE)
    set_clock("sleep", 1100)
    until(5, "it is too old", lambda: age() >= 1100)
    say(ask(17)[0], "the rule is not run", ask(17))
    say(hook.metric("gpugate_rules_not_run", rule=RULE) > before,
        "the skipped rule is counted")
    set_clock("step", -86400 * 3650)
    time.sleep(1.5)
    say(age() >= 1100 and ask(17)[0], "ten years back: still too old", age())
    set_clock("step", 0)
    time.sleep(1.5)
    hook.set_policy("apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
                    "maxAge: 1h\n")
    until(10, "a policy may allow an older state", lambda: denies(17))
    until(5, "the log reports the outage", lambda: said("does not answer"))
    restart_server()
    quota(24)
    until(30, "it is young again", lambda: age() < 100 and ask(17)[0])
    say(denies(25), "25 of 24 GPUs never fit", ask(25))
    # A server that has just started forbids requests that it allows a moment
    # later. gpugated does not report these.
    until(20, "all kinds are read again", lambda: kinds() == 30)
    say(not said("cannot read a kind"), "the log does not report that moment")
    late = {a for a in asked() if a[2] in (401, 403)}
    print(f"after a restart: {len(late)} things refused for a moment",
          flush=True)


def rights_gone():
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/" \
        "gpugate-cluster-state"
    say(admin.request("DELETE", path)[0] == 200, "the rights are gone")
    # Running watches keep their permission until they end, so end them.
    restart_server()
    # A kind without a CRD, such as Karpenter's, is requested only every few
    # minutes, so not all kinds are reported at once.
    until(40, "the log reports the kinds", lambda: said("cannot read a kind") >= 13)
    until(10, "no kind counts as read", lambda: kinds() <= 1)
    say(ask(25)[0] and hook.ready(), "the webhook still answers", ask(25))


try:
    for test in (reads, rights, away, rights_gone):
        test()
finally:
    hook.stop()
if failed:
    with open(hook.log, encoding="utf-8") as lines:
        print("".join(lines.readlines()[-40:]))
print(f"live account: {passed} passed, {failed} failed")
sys.exit(failed > 0)
