#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests that put load on the webhook, one after the other, since each wants
# the machine for itself. Times are told, and are checks only with
# TIMES=strict; what is lost is always a failure. A step that fails is tried
# once more, and that is said: another program may have taken the processors
# for seconds. usage: run-load.sh BUILD
set -u
build=$1
here=$(dirname "$0")
mkdir -p "$build/logs-load"
steps=("hostile=$build/tests/unit/test_door_hostile 2>&1")
for name in check-server check-reliability check-rotation check-live \
	check-self-managed; do
	[ -x "$here/$name.sh" ] || continue
	log=$build/logs-load/$name.first
	steps+=("$name=$here/$name.sh $build >$log 2>&1 && cat $log || { cat $log >&2; echo again: $name; $here/$name.sh $build; }")
done
STEPS_AT_ONCE=1 "$here/run.sh" "$build/logs-load" "${steps[@]}"
