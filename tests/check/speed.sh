#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures throughput, latency and endurance. `make load-table` is the long run.
# usage: speed.sh BUILD
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
exec "$tests/check/reliability.sh" "$build" speed soak away
