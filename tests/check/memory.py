# SPDX-License-Identifier: Apache-2.0
"""Send many large reviews at once, and small ones meanwhile. Check the answers
and gpugated's memory.

usage: memory.py CA PORT PID texts|values|updates|brackets|lists N MEGABYTES
"""
import http.client
import json
import ssl
import sys
import threading

ROUNDS = 3


def pod(containers, padding=0, values=0):
    one = {"image": "nvidia/cuda", "command": ["sleep", "infinity"],
           "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
           "resources": {"limits": {"nvidia.com/gpu": 1}}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "namespace": "a",
                         "annotations": {"x": "y" * padding}},
            "spec": {"x": [[0] * 1000 for _ in range(values // 1000)],
                     "containers": [dict(one, name="c%d" % i)
                                    for i in range(containers)]}}


def workflow(manifest, n):
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
            "metadata": {"name": "p", "namespace": "a"},
            "spec": {"templates": [
                {"name": "t%d" % i, "resource": {
                    "action": "create", "manifest": manifest}}
                for i in range(n)]}}


def brackets():
    deep = "[" * 300 + "]" * 300 + ", "
    return workflow("kind: Pod\nspec: [" + deep * 22 + "]", 205)


def long_list():
    return workflow("kind: Pod\nspec: [" + "a," * 1325000 + "a]", 1)


def review(new, old=None):
    request = {"uid": "u", "operation": "UPDATE" if old else "CREATE",
               "namespace": "a", "name": "p",
               "userInfo": {"username": "alice"},
               "kind": {"group": "", "version": "v1", "kind": "Pod"},
               "object": new}
    if old:
        request["oldObject"] = old
    return json.dumps({"apiVersion": "admission.k8s.io/v1",
                       "kind": "AdmissionReview", "request": request},
                      separators=(",", ":")).encode()


LARGE = {
    "texts": lambda: review(pod(1, padding=4600000)),
    "values": lambda: review(pod(1, values=140000, padding=100000)),
    "brackets": lambda: review(brackets(), brackets()),
    "lists": lambda: review(long_list(), long_list()),
    "updates": lambda: review(pod(1050, 3000000), pod(1040, 3000000)),
}


class Client:
    def __init__(self, ca, port):
        self.context = ssl.create_default_context(cafile=ca)
        self.port = int(port)
        self.statuses = []
        self.problems = []

    def ask(self, body, statuses):
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=60, context=self.context)
        try:
            connection.request("POST", "/validate", body,
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            statuses.append(reply.status)
            if reply.status == 429 and not reply.getheader("Retry-After"):
                self.problems.append("429 without Retry-After")
        except (OSError, http.client.HTTPException) as e:
            self.problems.append("no answer: %r" % e)
        finally:
            connection.close()

    def repeat(self, body, statuses, n):
        for _ in range(n):
            self.ask(body, statuses)


def peak(pid):
    with open("/proc/%s/status" % pid, encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return None


def main(ca, port, pid, kind, n, megabytes):
    client = Client(ca, port)
    small, large = [], []
    body, ordinary = LARGE[kind](), review(pod(20))
    threads = [threading.Thread(target=client.repeat,
                                args=(body, large, ROUNDS))
               for _ in range(int(n))]
    threads += [threading.Thread(target=client.repeat,
                                 args=(ordinary, small, 20))
                for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = []
    client.ask(body, alone)
    used = peak(pid)
    count = {status: large.count(status) for status in sorted(set(large))}
    print("%d bytes: %s; small: %s; alone: %s; peak %.1f MiB" %
          (len(body), count, sorted(set(small)), alone, used))
    print("\n".join(client.problems[:5]))
    good = (not client.problems and set(large) <= {200, 413, 429} and
            200 in large and set(small) == {200} and alone == [200] and
            used <= float(megabytes))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
