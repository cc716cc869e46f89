# SPDX-License-Identifier: Apache-2.0
"""Read and compare the reports that formats.sh wrote: DIR/<case>/<format>.

Every check returns the findings as a sorted list of (line, rule), which must
be the same for all formats of a case; None where a format shows a part only.
"""
import collections
import json
import os
import re
import sys
import xml.etree.ElementTree as xml
from urllib.parse import unquote

import html_page

try:
    import jsonschema
except ImportError:
    jsonschema = None
try:
    import markdown_it
except ImportError:
    markdown_it = None

SAMPLE = 300  # results validated against the schema: the validator is slow


class Failed(Exception):
    pass


def need(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), "key twice in", keys)
    return dict(pairs)


def load(text):
    return json.loads(text, object_pairs_hook=no_duplicates)


FINDING = ("rule fingerprint category severity message help file line column "
           "endLine endColumn document object pod container path related")
SUMMARY = ("files skipped documents objects workloads gpus "
           "unknownKindsWithPods placeholders fragments errors warnings infos "
           "suppressed fixable rulesNotRun")


def check_finding(finding):
    missing = [k for k in FINDING.split() if k not in finding]
    need(not missing, "finding lacks", missing)
    need(finding["line"] >= 1 and finding["column"] >= 1, "place", finding)
    need((finding["endLine"], finding["endColumn"]) >=
         (finding["line"], finding["column"]), "ends before it begins", finding)
    need(re.fullmatch("[0-9a-f]{16}", finding["fingerprint"]), finding)
    need(finding["message"], "empty message", finding)


def line_of(path, n):
    with open(path, "rb") as file:
        text = file.read()
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = text.decode("utf-16").encode()
    text = text.removeprefix(b"\xef\xbb\xbf")
    return text.split(b"\n")[n - 1].removesuffix(b"\r")


def check_places(findings):
    """Check the order of places, and that their columns exist in the files."""
    order = [(f["file"].encode(), f["line"], f["column"], f["rule"])
             for f in findings]
    need(order == sorted(order), "not sorted")
    for f in findings:
        line = line_of(f["file"], f["line"]).decode(errors="replace")
        need(f["column"] <= len(line) + 1, "column", f)
        line = line_of(f["file"], f["endLine"]).decode(errors="replace")
        need(f["endColumn"] <= len(line) + 1, "end column", f)


def check_byte_columns(diagnostics, findings):
    """Check that the columns of rdjson count bytes, and those of json code points."""
    for d, f in zip(diagnostics, findings):
        start = d["location"]["range"]["start"]
        line = line_of(f["file"], f["line"]).decode(errors="replace")
        prefix = line[:f["column"] - 1].encode()
        need(start["line"] == f["line"], "line", d)
        need(start["column"] == len(prefix) + 1, "byte column", d, f)


def check_json(text, case):
    report = load(text)
    need(list(report) == ["version", "findings", "suppressed", "summary"],
         list(report))
    need(report["version"] == 1, "version", report["version"])
    summary = report["summary"]
    missing = [k for k in SUMMARY.split() if k not in summary]
    need(not missing, "summary lacks", missing)
    for finding in report["findings"]:
        check_finding(finding)
    need(len(report["findings"]) ==
         summary["errors"] + summary["warnings"] + summary["infos"],
         "findings and summary differ", summary)
    need(len(report["suppressed"]) == summary["suppressed"], "suppressed")
    case["summary"] = summary
    case["findings"] = report["findings"]
    if case["real"]:
        check_places(report["findings"])
    case["suppressed"] = len(report["suppressed"])
    return [(f["line"], f["rule"]) for f in report["findings"]]


def check_jsonl(text, case):
    lines = [load(line) for line in text.splitlines()]
    need(lines[-1] == {"version": 1, "summary": case["summary"]}, "last line")
    suppressed = [line for line in lines if list(line) == ["suppressed"]]
    need(len(suppressed) == case["suppressed"], "suppressed")
    findings = [line for line in lines[:-1] if "rule" in line]
    need(len(findings) + len(suppressed) + 1 == len(lines), "other lines")
    for finding in findings:
        check_finding(finding)
    return [(f["line"], f["rule"]) for f in findings]


def check_result(result, rules):
    rule = rules[result["ruleIndex"]]
    need(rule["id"] == result["ruleId"], "ruleIndex", result)
    need(result["message"]["text"], "empty message")
    need("gpugate/v1" in result["partialFingerprints"], "fingerprint")
    ids = [r["id"] for r in result.get("relatedLocations", [])]
    need(len(ids) == len(set(ids)), "related ids", ids)
    links = [int(i) for i in
             re.findall(r"\]\((\d+)\)", result["message"]["text"])]
    need(sorted(links) == sorted(ids), "links", links, "ids", ids)
    place = result["locations"][0]["physicalLocation"]
    unquote(place["artifactLocation"]["uri"])
    region = place["region"]
    need(region.get("endLine", region["startLine"]) == region["startLine"],
         "region of several lines", region)
    need(region.get("endColumn", region["startColumn"]) >=
         region["startColumn"], "region", region)


def check_schema(report, case):
    if not jsonschema or not case["schema"]:
        return
    with open(case["schema"], encoding="utf-8") as file:
        schema = json.load(file)
    results = report["runs"][0]["results"]
    step = max(1, len(results) // SAMPLE)
    report["runs"][0]["results"] = results[::step]
    validator = jsonschema.Draft7Validator(
        schema, format_checker=jsonschema.FormatChecker())
    for error in validator.iter_errors(report):
        raise Failed(f"schema: {list(error.path)}: {error.message[:300]}")
    report["runs"][0]["results"] = results


def check_sarif(text, case):
    report = load(text)
    run = report["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        for key in "shortDescription", "fullDescription", "help":
            need(0 < len(rule[key]["text"]), "empty", key, rule["id"])
        for key in "shortDescription", "fullDescription":
            need(len(rule[key]["text"]) <= 1024, "too long", key, rule["id"])
    for result in run["results"]:
        check_result(result, rules)
    check_schema(report, case)
    suppressed = [r for r in run["results"] if r.get("suppressions")]
    need(len(suppressed) == case["suppressed"], "suppressed")
    return [(r["locations"][0]["physicalLocation"]["region"]["startLine"],
             r["ruleId"]) for r in run["results"] if not r.get("suppressions")]


def check_junit(text, case):
    root = xml.fromstring(text)
    names = collections.Counter()
    found, skipped = [], 0
    for suite in root:
        need(suite.tag == "testsuite", suite.tag)
        cases = suite.findall("testcase")
        failures = suite.findall("testcase/failure")
        need(int(suite.get("tests")) == len(cases), "tests", suite.attrib)
        need(int(suite.get("failures")) == len(failures), suite.attrib)
        need(cases, "empty suite", suite.attrib)
        for item in cases:
            names[item.get("classname"), item.get("name")] += 1
            failure = item.find("failure")
            skipped += item.find("skipped") is not None
            passed = item.find("system-out")
            if failure is not None:
                need(failure.get("message") in failure.text, "text")
            if failure is not None or passed is not None:
                found.append((int(item.get("line")),
                              item.get("name").split()[0]))
    twice = [name for name, n in names.items() if n > 1]
    need(not twice, "names twice:", twice[:3])
    need(skipped == case["suppressed"], "skipped", skipped)
    return found


def check_gitlab(text, _):
    report = load(text)
    prints = [issue["fingerprint"] for issue in report]
    need(len(prints) == len(set(prints)), "fingerprints are not unique")
    for issue in report:
        need(issue["severity"] in
             ("info", "minor", "major", "critical", "blocker"), issue)
        need(not issue["location"]["path"].startswith("./"), issue)
        need(issue["description"].startswith(issue["check_name"]), issue)
    return [(i["location"]["lines"]["begin"], i["check_name"])
            for i in report]


def check_rdjson(text, case):
    report = load(text)
    if case["real"]:
        check_byte_columns(report["diagnostics"], case["findings"])
    need(report["source"]["name"] == "gpugate", report["source"])
    for item in report["diagnostics"]:
        need(item["severity"] in ("ERROR", "WARNING", "INFO"), item)
        span = item["location"]["range"]
        start = span["start"]["line"], span["start"].get("column", 1)
        end = span["end"]["line"], span["end"].get("column", 1 << 30)
        need(start <= end and min(start + end) >= 1, "range", span)
    return [(d["location"]["range"]["start"]["line"], d["code"]["value"])
            for d in report["diagnostics"]]


def check_github(text, case):
    """Check the lines as the GitHub runner reads them: a line that begins with
    :: is a command."""
    shown, left = collections.Counter(), 0
    for line in text.splitlines():
        if not line.startswith("::"):
            need(re.match(r"Checked (\d|separately, |in part: )|Rendered \d"
                          r"|No(thing was| files were) linted"
                          r"|(Not rendered|Skipped) \(", line),
                 "not ours:", line)
            continue
        match = re.fullmatch(
            r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:]*,?)+)::(.*)", line)
        need(match, "no command:", line)
        need(re.fullmatch(r"(?:[^%]|%25|%0A|%0D)*", match[3]), "data", line)
        need(len(match[3]) <= 4096, "too long")
        more = re.match(r"(\d+) more findings? ", match[3])
        left += int(more[1]) if more else 0
        shown[match[1]] += 1
        shown["all"] += not more
    need(max(shown.values(), default=0) <= 30, shown)
    need(all(shown[k] <= 10 for k in ("error", "warning", "notice")), shown)
    need(shown["all"] + left == case["count"], "shown", shown, "left", left)


def check_markdown(text, case):
    rows = re.findall(r"^\| \d+:\d+ \| .* \|$", text, re.M)
    left = re.search(r"^(\d+) more findings? left out", text, re.M)
    need(len(rows) + (int(left[1]) if left else 0) == case["count"],
         "rows", len(rows))
    need(len(text.encode()) < 1 << 20, "larger than a step summary")
    for row in rows:
        need(row.count("|") == 6, "columns", row)
        need(not re.search(r"<(?!/?code>)", row), "markup", row)
    if not markdown_it:
        return
    tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    tokens = tokens.parse("\n".join(text.splitlines()[:2000]))
    kinds = collections.Counter()
    for token in tokens:
        for child in [token] + (token.children or []):
            kinds[child.type] += 1
            need(child.type not in ("link_open", "image", "html_block"),
                 "forged", child.type, child.content)
            need(child.type != "html_inline" or
                 child.content in ("<code>", "</code>"), child.content)
    need(kinds["table_open"] or not rows, "no table")


def check_concise(text, _):
    found = []
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(
            r".+?:(\d+):(\d+): (?:error|warning|info): .+ \[([a-z0-9-]+)\]",
            line)
        need(match, "line:", line)
        found.append((int(match[1]), match[3]))
    return found


def check_openreports(text, _):
    found = []
    names = set()
    for item in load(text)["items"]:
        where = item["metadata"].get("namespace", "")
        need((item["kind"] == "Report") == bool(where), item["kind"], where)
        name = where, item["metadata"]["name"]
        need(name not in names, "twice:", name)
        names.add(name)
        counts = collections.Counter(r["result"] for r in item["results"])
        need({k: n for k, n in item["summary"].items() if n} == counts,
             "summary", item["summary"], "of", counts)
        need(len(json.dumps(item)) < 1500000, "too large for etcd")
        for result in item["results"]:
            need(all(isinstance(v, str)
                     for v in result["properties"].values()), result)
            if result["result"] != "skip":
                line = result["properties"]["position"].split(":")[0]
                found.append((int(line), result["rule"]))
    return found


def check_html(text, _):
    return html_page.read(text)


def check_full(text, case):
    docs = re.findall(r"^ *= docs: gpugate explain \S+$", text, re.M)
    need(len(docs) == case["count"], "findings", len(docs))
    heads = re.findall(r"^(?:error|warning|info): .+ \[[a-z0-9/-]+\]$", text,
                       re.M)
    need(len(heads) == case["count"], "headers", len(heads))


CHECKS = [("json", check_json), ("jsonl", check_jsonl),
          ("sarif", check_sarif), ("junit", check_junit),
          ("gitlab", check_gitlab),
          ("rdjson", check_rdjson), ("github", check_github),
          ("markdown", check_markdown), ("concise", check_concise),
          ("full", check_full), ("html", check_html),
          ("openreports", check_openreports)]
# Characters that a terminal interprets or does not show. No report may contain
# them, because even JSON may be printed on a terminal.
HOSTILE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u206f\ufeff]")


def check_case(folder, schema):
    case = {"schema": schema,
            "real": os.path.basename(folder).startswith("corpus")}
    wanted = None
    for name, check in CHECKS:
        with open(os.path.join(folder, name), "rb") as file:
            text = file.read().decode("utf-8")  # fails if the report is not UTF-8
        try:
            need(not text.startswith("\ufeff"), "byte order mark")
            raw = HOSTILE.search(text)
            need(not raw, "raw control or hidden character", raw)
            found = check(text, case)
            if wanted is None:
                wanted = sorted(found)
                case["count"] = len(wanted)
            elif found is not None:
                need(sorted(found) == wanted, "other findings than json:",
                     len(found), "not", len(wanted))
        except (Failed, ValueError, KeyError, TypeError, xml.ParseError) as why:
            raise Failed(f"{os.path.basename(folder)}: {name}: {why}") from why
    return case["count"]


def main():
    folder, schema = sys.argv[1:]
    failed = 0
    for name, module in (("jsonschema", jsonschema),
                         ("markdown-it-py", markdown_it)):
        if not module:
            print(f"skip: {name} is absent")
    for case in sorted(os.listdir(folder)):
        path = os.path.join(folder, case)
        if not os.path.isdir(path):
            continue
        try:
            count = check_case(path, schema)
            print(f"{case}: {count} findings, {len(CHECKS)} formats: ok")
        except Failed as why:
            failed += 1
            print(why)
    sys.exit(failed != 0)


main()
