#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the model of the findings that an UPDATE may keep: once for long, and
# then briefly with each comparison of the product broken in turn, which the
# model must detect.
# usage: ratchet.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"

# FILE|REASON|SED: the model must detect each of these changes.
mutations() {
	cat <<-'END'
	webhook/admission/ratchet.c|a warning excuses a denial|s/(c && decide(c, f).outcome != OUTCOME_DENY)/0/
	rules/engine/finding.c|any value is the same|s/&f->value, sizeof(f->value)/"", 1/
	rules/engine/finding.c|any container is the same|s/f->pod, f->container, f->message/f->pod, "", f->message/
	webhook/admission/ratchet.c|any number of pods|s/return now.n > before.n ||/return/
	webhook/admission/ratchet.c|nothing takes devices|s/return f->rule->flags & RULE_TAKES;/return false;/
	webhook/admission/ratchet.c|new devices among the findings are not told|s/more |= takes(f)/more |= !takes(f)/
	webhook/admission/admission.c|metadata and less demand excuse devices|s/if (ratchet(/if (!ratchet(/
	webhook/admission/admission.c|demand never grows|s/c->demand_grew = .*/c->demand_grew = false;/
	webhook/admission/demand.c|a pod may grow|s/quantity_cmp(now->pod, old->pod) > 0 ||//
	webhook/admission/decide.c|nothing is forgiven|s/f->forgiven/false/
	webhook/admission/decide.c|everything is forgiven|s/f->forgiven/true/
	webhook/admission/decide.c|controllers are believed|s/c->controlled \&\& !f->controller_pods/c->controlled/
	webhook/admission/decide.c|controllers are not believed|s/c->controlled \&\& !f->controller_pods/false/
	webhook/admission/decide.c|anybody is a controller|s/c->controlled = /&true || /
	webhook/admission/decide.c|what says that it goes is believed|s/review->old.root,/review->object.root,/
	rules/engine/run/report.c|the value is not looked at|s/reads_place(rr, f, at);$/(void)0;/
	rules/engine/run/run.c|a second mount is not looked at|s/all\[kept - 1\]->value += .*/(void)0;/
	rules/engine/run/report.c|replicas are not counted|s/f->pods = amount_mul.*/f->pods.n = 1;/
	END
}

# Builds the model with the changed file, which replaces the one in the
# libraries. Succeeds if the model reports a difference.
mutate() {
	local file=$1 change=$2
	sed "$change" "$file" >"$work/changed.c"
	cmp -s "$file" "$work/changed.c" && return 2
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -fno-lto -w -pthread -Iinclude -I. \
		-I"$(dirname "$file")" -Itests/webhook -I"$build/gen" -o "$work/model" \
		tests/webhook/ratchet_model.c "$work/changed.c" \
		"$build/libgpugated.a" "$build/libgpugate.a" -lyaml -lpcre2-8 \
		-ljansson -lmicrohttpd -lgnutls -lssl -lcrypto -lcurl || return 2
	"$work/model" 20000 >"$work/log" 2>&1
	[ $? -eq 1 ]
}

model() {
	"$build/tests/tools/ratchet_model" "${STEPS:-1000000}" "${SEED:-7}" \
		>"$work/log" 2>&1
}

check "the model" model
grep steps: "$work/log"
while IFS='|' read -r file what change; do
	check "$file: $what" mutate "$file" "$change"
done < <(mutations)
finish ratchet
