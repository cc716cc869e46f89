#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lints the corpus of real manifests: no crash, every file is counted, the
# report is the same for any number of threads, and the figures equal the
# index's.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
need "$corpus"
check() {
	if [ "$1" = "$2" ]; then
		pass=$((pass + 1))
	else
		echo "FAIL $3: $1, not $2" >&2
		fail=$((fail + 1))
	fi
}
for j in 1 2 7; do
	"$gpugate" lint --isolated --no-ignore-vcs --preset all -j $j \
		--format json --fail-on never "$corpus" >"$work/$j.json"
	check $? 0 "exit status with -j $j"
done
check "$(cmp "$work/1.json" "$work/2.json" 2>&1)" '' 'report of -j 1 and -j 2'
check "$(cmp "$work/1.json" "$work/7.json" 2>&1)" '' 'report of -j 1 and -j 7'
files=$(find "$corpus" -type f \( -name '*.yaml' -o -name '*.yml' -o \
	-name '*.json' \) | wc -l)
python3 - "$work/1.json" "$files" "$corpus/INDEX.tsv" <<'PY'
import csv, json, sys
report = json.load(open(sys.argv[1]))
s = report["summary"]
passed = failed = 0
def check(got, want, what):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: {got}, not {want}")
check(s["files"] + len(s["skipped"]), int(sys.argv[2]), "files accounted for")
check(len(s["skipped"]), 0, "skipped files (no corpus file is a template)")
check(sum(f["rule"] == "invalid-syntax" for f in report["findings"]), 0,
      "documents refused")
docs = sum(int(r["docs"]) for r in csv.DictReader(open(sys.argv[3]), delimiter="\t"))
check(s["documents"], docs, "documents")
check(len({(f["fingerprint"], f["file"], f["line"], f["column"], f["message"]) for f in report["findings"]}),
      len(report["findings"]), "findings are distinct")
check(s["errors"] + s["warnings"] + s["infos"],
      sum(1 + f.get("more", 0) for f in report["findings"]), "counts")
print(f"corpus report: {passed} passed, {failed} failed")
sys.exit(failed > 0)
PY
check $? 0 'figures of the report'
finish corpus
