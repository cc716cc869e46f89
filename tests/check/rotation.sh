#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Replaces certificates and CAs under load, also by files that cannot be used.
# usage: rotation.sh BUILD
# ROTATION_SECONDS=120 is the long run (30 by default).
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
exec "$tests/check/reliability.sh" "$build" rotation broken
