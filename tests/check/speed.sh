#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures throughput, latency and endurance. usage: speed.sh BUILD `make
# load-table` is the long run.
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
exec "$tests/check/reliability.sh" "$build" speed soak away
