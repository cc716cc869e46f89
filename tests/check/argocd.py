#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imitate Argo CD calling a config management plugin.

  argocd.py sidecar RENDERED FOLDER
      check the sidecar in a rendered Deployment
  argocd.py ask PLUGIN REPO APP NAME=VALUE...
      as cmpserver/plugin/plugin.go does: a copy of the repository without
      modes, the commands in the application's folder, standard output only of
      a command that succeeds
  argocd.py case yes|no|none TEXT COMMAND...
      run COMMAND. With yes, the plugin matches and the manifests contain TEXT.
      With no, it matches and fails with TEXT. With none, it does not match, and
      fails.
  argocd.py generated yes|no|empty TEXT COMMAND...
      the same for the repo server, which does not report matches. With empty,
      it succeeds without a manifest.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile


def sidecar(rendered, folder):
    import yaml
    docs = list(yaml.safe_load_all(open(rendered)))
    maps = {d["metadata"]["name"]: d for d in docs if d["kind"] == "ConfigMap"}
    pod = next(d for d in docs if d["kind"] == "Deployment")
    pod = pod["spec"]["template"]["spec"]
    names = [c["name"] for c in pod["containers"]]
    assert sorted(names) == ["argocd-repo-server", "gpugate"], names
    ours = pod["containers"][names.index("gpugate")]
    volumes = {v["name"]: v for v in pod["volumes"]}
    mounts = {m["mountPath"]: volumes[m["name"]] for m in ours["volumeMounts"]}
    assert ours["securityContext"]["runAsUser"] == 999
    assert ours["command"] == ["/var/run/argocd/argocd-cmp-server"]
    for path, key in (("/home/argocd/cmp-server/config", "plugin.yaml"),
                      ("/etc/gpugate", "policy.yaml")):
        data = maps[mounts[path]["configMap"]["name"]]["data"]
        assert data[key] == open(os.path.join(folder, key)).read(), key
    assert "emptyDir" in mounts["/tmp"]


def run(command, folder, env):
    words = command["command"] + command.get("args", [])
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{words} failed: {done.stderr}")
    return done.stdout


def ask(plugin, repo, app, settings):
    import yaml
    spec = yaml.safe_load(open(plugin))["spec"]
    env = dict(os.environ, **dict(s.split("=", 1) for s in settings))
    with tempfile.TemporaryDirectory() as top:
        copy = os.path.join(top, "repo")
        shutil.copytree(repo, copy, symlinks=True,
                        copy_function=shutil.copyfile)
        folder = os.path.join(copy, app)
        found = run(spec["discover"]["find"], folder, env)
        print("match:", "true" if found else "false", flush=True)
        for doc in yaml.safe_load_all(run(spec["generate"], folder, env)):
            print(json.dumps(doc))


def generated(want, text, command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert (done.returncode == 0) == (want != "no"), done.returncode
    assert text in (done.stdout if want == "yes" else done.stderr)
    assert (want == "yes") == ("kind" in done.stdout)


def case(want, text, command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    match = "match: true" in done.stdout
    assert match == (want != "none"), "match"
    if want == "yes":
        assert done.returncode == 0, done.returncode
        for line in done.stdout.splitlines()[1:]:
            json.loads(line)
        assert text in done.stdout
    else:
        assert done.returncode, "no failure"
        assert text in done.stderr
        assert "kind" not in done.stdout


if __name__ == "__main__":
    what, args = sys.argv[1], sys.argv[2:]
    if what == "sidecar":
        sidecar(*args)
    elif what == "ask":
        ask(args[0], args[1], args[2], args[3:])
    else:
        dict(case=case, generated=generated)[what](args[0], args[1], args[2:])
