#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the real gpugated under load while it is restarted, killed, overloaded,
# or short of memory, files or time.
# usage: reliability.sh BUILD [SCENARIO...]
#
#	restart  two processes in turn, behind load balancers that learn it late
#	kill     time from SIGKILL and a restart to the first verdict
#	overload five times as many clients as may be in flight
#	faults   many SIGHUPs, a missing policy, few descriptors, a full log file
#
# By default these four run, for about 2 minutes. Others are run if named:
#
#	rotation, broken   see rotation.sh
#	speed    the largest rate of Pods of 20 KiB with all rules, and the latency
#	         at half of this rate, compared with a static answer
#	hostile  four clients that send expensive reviews, beside ordinary ones
#	soak     reloads and new connections: memory must not grow
#	away     the API server stops and starts again
#	slow     slow and idle clients; server.sh does the same without rules
#	mixed    all of these at once, for a BUILD with SANITIZE=thread
#
# The environment sets the lengths (KEEP_LOGS=FOLDER keeps gpugated's logs):
# ROTATION_SECONDS=30 ROTATION_EVERY_MS=5000 RESTART_REQUESTS=200000 RESTARTS=4
# KILLS=100 OVERLOAD_SECONDS=9 STORM_SECONDS=10 MIXED_SECONDS=20
# RESTART_MINUTES=3 SPEED_SECONDS=5 SOAK_SECONDS=40 AWAY_TIMES=20
# HOSTILE_TURNS=10
# SLOW_SECONDS=12 SLOW_CLIENTS=1000 IDLE_CONNECTIONS=2000 SLOW_RATE=400
# shellcheck source=tests/check/lib.bash
. "$(dirname "$0")/lib.bash"
shift
[ $# -gt 0 ] || set -- restart kill overload faults
if ! command -v go >/dev/null; then
	echo "skip: reliability: go is not on PATH"
	exit 0
fi
load=$build/tests/load
mkdir -p "${load%/*}"
(cd tests/webhook/load && go build -o "$load" .) || exit 1
python3 - "$work" <<'PY'
import sys
sys.path.insert(0, "tests/webhook")
import review

UID = "00000000-0000-0000-0000-000000000000"
for name, gpus in ("allow", "1"), ("deny", "0.5"):
    resources = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": gpus}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "train", "namespace": "team-a",
        "annotations": {"notes": "n" * 2000}}, "spec": {
            "restartPolicy": "Never", "containers": [{
                "name": "main", "image": "example.com/train:1",
                "command": ["python3", "train.py"],
                "resources": {"limits": resources, "requests": resources}}]}}
    review.dump(review.review(pod, uid=UID), f"{sys.argv[1]}/{name}.json")
PY
case " $* " in *' speed '* | *' hostile '*)
	mkdir "$work/bodies" && python3 tests/bench/bodies.py "$work/bodies" || exit 1
	${CC:-gcc} -O2 -pthread -o "$work/floor" tests/bench/mhd_floor.c \
		-lmicrohttpd && export FLOOR=$work/floor
	python3 tests/webhook/hostile.py "$work/hostile" || exit 1
	;;
esac
"$load" "$build/gpugated" "$work" "$@"
status=$?
[ -z "${KEEP_LOGS:-}" ] || cp "$work"/*.log "$KEEP_LOGS"
exit $status
