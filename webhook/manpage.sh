#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpugated(8) from what `gpugated help [COMMAND]` prints.
# usage: manpage.sh GPUGATED VERSION
set -eu
{
	"$1" help
	for command in certs selftest; do
		echo "COMMAND $command"
		"$1" help $command
	done
} | awk -v version="$2" '
function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text ~ /^[.\047]/ ? "\\&" text : text
}

function text(line) { print roff(line) }

BEGIN {
	printf ".TH GPUGATED 8 \"\" \"gpugate %s\" \"gpugate\"\n", version
	print ".SH NAME\ngpugated \\- admission webhook for GPU workloads" \
		" on Kubernetes"
}

/^COMMAND / { print ".SH " toupper($0); part = 1; next }
/^Usage:/ { lead_ends = 1 }
/^Usage:/ || usage && /^ +gpugated/ {
	if (!usage && !part)
		print ".SH SYNOPSIS"
	else if (usage)
		print ".br"
	usage = 1
	sub(/^(Usage:)? +/, "")
	text($0)
	next
}
usage && /^$/ {
	usage = 0
	print part ? ".PP" : ".SH DESCRIPTION\n" lead ".PP"
	next
}
!usage && !part && !lead_ends {
	if (!/^$/)
		lead = lead roff($0) "\n"
	next
}
/^Options.*:$/ {
	if (!part)
		print ".SH OPTIONS"
	if (/environment/)
		text("Also as environment: --tls-cert is GPUGATED_TLS_CERT.")
	next
}
/^ +(-[a-z], )?--/ {
	print ".TP"
	match($0, /^ +(-[a-z], )?--[a-z-]+( [A-Z:.]+)?/)
	name = substr($0, 1, RLENGTH)
	sub(/^ +/, "", name)
	print "\\fB" roff(name) "\\fR"
	$0 = substr($0, RLENGTH + 1)
	sub(/^ +/, "")
	if ($0 != "")
		text($0)
	next
}
/^$/ { print ".PP"; next }
{ sub(/^ +/, ""); text($0) }

END {
	print ".SH SEE ALSO\n.BR gpugate (1),\n.BR gpugate\\-policy (5)"
}'
