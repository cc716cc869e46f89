# SPDX-License-Identifier: Apache-2.0
# Policies that users copy from the documents (see tests/meta/recipes.txt).
bats_require_minimum_version 1.5.0
load helper

@test "both programs read the policies in the documents" {
	local root=$BATS_TEST_DIRNAME/../..
	mkdir rules
	echo '{}' >prod.json
	python3 - "$root"/{README.md,deploy/README.md,lint/docs/README.md} <<-'END'
		import re, sys
		n = 0
		for name in sys.argv[1:]:
		    for text in re.findall(r"^```yaml\n(.*?)^```", open(name).read(),
		                           re.S | re.M):
		        head = "apiVersion: gpugate.dev/v1\nkind: Policy\n"
		        if text.startswith("paths:"):
		            text = head + text
		        if "kind: Policy" in text:
		            n += 1
		            open(f"{n}.policy", "w").write(text)
		assert n >= 3, n
	END
	good a.yaml
	for file in *.policy; do
		run "$GPUGATE" config --config "$file"
		is "$status" 0
		holds_not "$output" error:
		[ ! -x "${GPUGATE%/*}/gpugated" ] ||
			"${GPUGATE%/*}/gpugated" selftest --policy "$file"
	done
}
