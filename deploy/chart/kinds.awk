# SPDX-License-Identifier: Apache-2.0
# Prints the chart's list of the kinds that the webhook checks, except Pods: it
# reads rules/kube/data/kinds.txt and groups the kinds by their use. `make docs`
# runs it.
BEGIN {
	print "# SPDX-License-Identifier: Apache-2.0"
	print "# Kinds other than Pods that the webhook checks, by group and plural; generated"
	print "# by `make docs` from rules/kube/data/kinds.txt."
	print "#"
	print "# native      the API server's own; most objects of these kinds have nothing"
	print "#             to do with GPUs, so matchConditions look into their templates"
	print "# operators   custom resources made for such work, and claims for devices; every"
	print "#             change of their spec is sent"
	print "# limits      quotas, limit ranges and priority classes that GPUs depend on"
}
$1 != "kind" || $2 == "gpugate.dev" { next }
$2 == "extensions" { next } # Kubernetes has not served it since 1.22
$2 == "-" && $3 == "Pod" { next }
$3 ~ /^(ResourceQuota|LimitRange|PriorityClass)$/ { list("limits") }
$3 ~ /^ResourceClaim(Template)?$/ { list("operators") }
$4 == "other" { next }
{ list($2 ~ /^(-|apps|batch)$/ ? "native" : "operators") }

function list(section,	key)
{
	key = section SUBSEP $2
	if (key in resources) {
		resources[key] = resources[key] ", " plural($3)
		return
	}
	groups[section] = groups[section] " " $2
	resources[key] = plural($3)
}

function plural(kind)
{
	kind = tolower(kind)
	if (sub(/y$/, "ies", kind) || sub(/s$/, "ses", kind))
		return kind
	return kind "s"
}

function write(section,	i, n, group, line)
{
	print section ":"
	n = split(groups[section], group, " ")
	for (i = 1; i <= n; i++) {
		print "  - group: " (group[i] == "-" ? "\"\"" : group[i])
		line = resources[section, group[i]]
		if (length(line) <= 58) {
			print "    resources: [" line "]"
			continue
		}
		gsub(/, /, "\n      - ", line)
		print "    resources:\n      - " line
	}
}

END {
	write("native")
	write("operators")
	write("limits")
}
