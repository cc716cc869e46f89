#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Evaluates expressions over inputs with unknown values: a result that is known
# nevertheless must be the same for 20 random values of the unknown ones.
#
# usage: cel-unknown.sh [BUILD]   COUNT=expressions (100000 is the full number)
#        SEED=their seed
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
python3 "$tests/check/cel_unknown.py" "$build/tests/tools/cel_answers" \
	"${COUNT:-8000}" "${SEED:-1}" >"$work/log" || say_fail 'it ended'
sed '$d' "$work/log"
read -r good bad < <(tail -n 1 "$work/log")
pass=$((pass + good))
fail=$((fail + bad))
finish cel-unknown
