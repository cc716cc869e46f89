#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that put load on the webhook, one after the other, because
# each needs the whole machine. Times are printed, and checked only with
# TIMES=strict. Lost requests fail a step even without it. A step other than
# `hostile` that fails runs again, with a message, and the second result
# counts, because another program may have used the processors for seconds.
# usage: run-load.sh BUILD
set -u
build=$1
here=$(dirname "$0")
mkdir -p "$build/logs-load"
steps=("hostile=$build/tests/unit/test_admission_hostile 2>&1")
for name in server reliability rotation speed live self-managed; do
	log=$build/logs-load/$name.first
	steps+=("check-$name=$here/check/$name.sh $build >$log 2>&1 && cat $log || { cat $log >&2; echo again: $name; $here/check/$name.sh $build; }")
done
STEPS_AT_ONCE=1 "$here/run.sh" "$build/logs-load" "${steps[@]}"
