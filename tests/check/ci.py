# SPDX-License-Identifier: Apache-2.0
"""Imitate a CI system for ci.sh: turn jobs into shell scripts as a runner
does, and read reports as their readers do. Fails with a message.

usage: ci.py step ACTION [INPUT=VALUE...] | job TEMPLATE [INPUT=VALUE...]
       ci.py artifacts TEMPLATE | sarif|quality|junit FILE COUNT
       ci.py log FILE | examples FILE FOLDER
"""

import json
import re
import shlex
import sys
import xml.etree.ElementTree
from pathlib import Path

import yaml


def check(condition, message):
    if not condition:
        raise SystemExit(message)


def fill(inputs, given):
    """Return the value of every input; unknown and missing ones are errors."""
    for name in given:
        check(name in inputs, f"no input {name}")
    values = {}
    for name, about in inputs.items():
        value = given.get(name, (about or {}).get("default"))
        check(value is not None, f"input {name} is required")
        options = (about or {}).get("options")
        check(not options or value in options, f"{name}={value}")
        values[name] = value
    return values


def step(path, *given):
    """Print the script of a composite action's last step, which lints."""
    action = yaml.safe_load(Path(path).read_text())
    values = fill(action["inputs"], dict(item.split("=", 1) for item in given))
    get, cache, lint = action["runs"]["steps"]
    check(get["if"] == "${{ !inputs.binary }}", "the first step's condition")
    check(cache["if"] == "${{ steps.get.outputs.key }}", "the cache's condition")
    check(lint["shell"] == get["shell"] == "sh", "the shell is another")
    check("${{" not in lint["run"] + get["run"], "an expression in a script")
    env = dict(lint["env"])
    check(env.pop("GPUGATE_FOLDER") == "${{ steps.get.outputs.folder }}",
          "the folder is another")
    used = set()
    for name, text in env.items():
        (key,) = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text).groups()
        check(name == "INPUT_" + key.upper().replace("-", "_"), name)
        used.add(key)
        print(f"export {name}={shlex.quote(values[key])}")
    check(used == set(values), f"inputs without use: {set(values) - used}")
    for name, about in action["outputs"].items():
        check(about["value"] == f"${{{{ steps.{lint['id']}.outputs.{name} }}}}",
              f"output {name}")
    print(lint["run"])


def job(path, *given):
    """Print the script of a GitLab template's only job, after interpolation."""
    head, body = Path(path).read_text().split("\n---\n")
    inputs = yaml.safe_load(head)["spec"]["inputs"]
    values = fill(inputs, dict(item.split("=", 1) for item in given))
    used = set()

    def value(match):
        used.add(match.group(1))
        return str(values[match.group(1)])

    body = re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", value, body)
    check(used == set(values), f"inputs without use: {set(values) - used}")
    (only,) = yaml.safe_load(body).values()
    for name, text in only["variables"].items():
        # Variables may refer to variables of the pipeline; missing ones are
        # empty.
        text = re.sub(r"\$(\w+)", r"${\1-}", str(text))
        print(f'export {name}="{text}"')
    for line in only["before_script"] + only["script"]:
        print(line)


def artifacts(path):
    """Check that the template's job wrote its reports."""
    (only,) = yaml.safe_load(Path(path).read_text().split("\n---\n")[1]).values()
    check(only["artifacts"]["when"] == "always", "not when the job fails")
    for file in only["artifacts"]["reports"].values():
        check(Path(file).is_file(), f"no {file}")


def sarif(path, count):
    (run,) = json.loads(Path(path).read_text())["runs"]
    results = run["results"]
    check(len(results) == int(count), f"{len(results)} results")
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        check(not uri.startswith("/"), uri)
        check(place["region"]["startLine"] > 1, "no line")
        check("primaryLocationLineHash" in result["partialFingerprints"],
              "no line hash")


def quality(path, count):
    issues = json.loads(Path(path).read_text())
    check(len(issues) == int(count), f"{len(issues)} issues")
    for issue in issues:
        check(issue["severity"] in ("info", "minor", "major", "critical",
                                    "blocker"), issue["severity"])
        for name in ("description", "check_name", "fingerprint"):
            check(isinstance(issue[name], str), name)
        check(issue["location"]["lines"]["begin"] > 1, "no line")
    check(len({issue["fingerprint"] for issue in issues}) == len(issues),
          "fingerprints are not unique")


def junit(path, count):
    tree = xml.etree.ElementTree.parse(path)
    failures = tree.findall(".//failure")
    check(len(failures) == int(count), f"{len(failures)} failures")
    names = [(case.get("classname"), case.get("name"))
             for case in tree.iter("testcase")]
    check(len(set(names)) == len(names), "names are not unique")


def log(path):
    """Check the commands in the log, which a runner executes: all of them are
    gpugate's, none comes from a manifest."""
    stopped, hostile = None, 0
    for line in Path(path).read_text().splitlines():
        if stopped:
            hostile += "##[error]y" in line
            stopped = None if line == f"::{stopped}::" else stopped
        elif line.startswith("::stop-commands::"):
            stopped = line[len("::stop-commands::"):]
            check(re.fullmatch("[0-9a-f]{32}", stopped), "a weak token")
        else:
            check(re.match("::(error|warning|notice) ", line) or
                  "::" not in line and "##[" not in line, line)
    check(not stopped, "commands stay off")
    check(hostile, "the hostile text is not in the log")


def examples(path, folder):
    """Write the workflows among a Markdown file's examples, one per file."""
    texts = re.findall(r"^```yaml\n(.*?)^```$", Path(path).read_text(),
                       re.MULTILINE | re.DOTALL)
    check(texts, "no examples")
    workflows = [text for text in texts if "jobs" in yaml.safe_load(text)]
    for i, text in enumerate(workflows):
        (Path(folder) / f"example-{i}.yml").write_text(text)


if __name__ == "__main__":
    commands = {f.__name__: f for f in (step, job, artifacts, sarif, quality,
                                        junit, log, examples)}
    commands[sys.argv[1]](*sys.argv[2:])
