#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the control plane that other tests use.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/control-plane.sh"
work=$(mktemp -d)
trap 'control_plane_stop; rm -rf "$work"' EXIT
pass=0 fail=0

check() { # WHAT COMMAND...
	local what=$1 begin=$SECONDS
	shift
	if "$@" >"$work/out" 2>&1; then
		pass=$((pass + 1))
		echo "ok $what ($((SECONDS - begin)) s)"
	else
		fail=$((fail + 1))
		echo "FAIL $what"
		tail -n 20 "$work/out"
	fi
}

says() { # TEXT COMMAND...
	local text=$1
	shift
	"$@" | grep -F -- "$text"
}

gpu_pod() { # NAME
	kube create -f - <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: $1}
	spec:
	  automountServiceAccountToken: false
	  containers:
	  - name: main
	    image: example
	    resources: {limits: {nvidia.com/gpu: 2}}
	END
}

# audited VERB RESOURCE USER: succeeds if the audit log has such a request
audited() {
	grep '"stage":"ResponseComplete"' "$CONTROL_PLANE_DIR/audit.log" |
		grep "\"verb\":\"$1\"" | grep "\"resource\":\"$2\"" |
		grep "\"username\":\"$3\""
}

port_free() {
	! (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null
}

# Succeeds if the processes of $pids have ended and the ports of $ports are
# free.
nothing_left() {
	local pid port
	for pid in $pids; do
		if [ -e "/proc/$pid" ]; then
			echo "process $pid is left"
			return 1
		fi
	done
	for port in $ports; do
		port_free "$port" || {
			echo "port $port is taken"
			return 1
		}
	done
}

remember() {
	local file
	for file in "$CONTROL_PLANE_DIR"/*.pid; do
		pids="$pids $(cut -d' ' -f1 "$file")"
	done
	ports="$ports $(cat "$CONTROL_PLANE_DIR/port")"
	ports="$ports $(sed 's/.*://' "$CONTROL_PLANE_DIR/etcd.url")"
}

stop() {
	pids='' ports=''
	remember
	check "$1: processes run before the stop" test "$(echo "$pids" | wc -w)" -ge "$2"
	control_plane_stop
	check "$1: no process and no port is left" control_plane_until 5 nothing_left
	check "$1: a second stop is harmless" control_plane_stop
}

# start DIR [ARG...]: starts a control plane. A failed start ends the test, or
# skips it with status 77 (programs or CRDs are missing).
start() {
	local status=0 begin=$SECONDS
	control_plane_start "$work/$@" || status=$?
	if [ $status = 77 ]; then
		echo 'skip: there are no programs of a control plane'
		exit 0
	fi
	check "start $* (took $((SECONDS - begin)) s)" test $status = 0
	[ $status = 0 ] || finish
}

sh_start() {
	! control_plane_start "$@" 2>&1
}

finish() {
	echo "$pass passed, $fail failed"
	[ "$fail" = 0 ]
	exit
}

crds=--crds
if [ ! -d "$here/../../../shared/crds" ]; then
	echo 'skip: ../shared/crds is not beside the checkout'
	crds=
fi

start plain --max-requests-inflight=300
check 'an API server flag arrives' says max-requests-inflight=300 \
	tr '\0' '\n' <"/proc/$(cut -d' ' -f1 "$CONTROL_PLANE_DIR/kube-apiserver.pid")/cmdline"
check 'a Pod is created' gpu_pod one
check 'the audit log has it' control_plane_until 5 audited create pods admin
check 'a user is made' control_plane_user alice research,ops/night
check 'the server knows the user' says alice kube_as alice auth whoami
check 'and the groups' says 'research ops/night system:authenticated' \
	kube_as alice auth whoami
check 'the user may do nothing' says no kube_as alice auth can-i create pods
check 'a user without groups' control_plane_user bob
check 'is known too' says bob kube_as bob auth whoami
check 'the API server is killed' control_plane_kill_apiserver
check 'and is gone' port_free "$(cat "$CONTROL_PLANE_DIR/port")"
check 'the API server is started again' control_plane_restart_apiserver
check 'the flag arrives again' says max-requests-inflight=300 \
	tr '\0' '\n' <"/proc/$(cut -d' ' -f1 "$CONTROL_PLANE_DIR/kube-apiserver.pid")/cmdline"
check 'the Pod is still there' says pod/one kube get pod one -o name
check 'a running API server is restarted' control_plane_restart_apiserver
stop plain 3

start managed $crds --controller-manager
if [ -n "$crds" ]; then
	check "all operators' kinds are there" test \
		"$(kube get crd -o name | wc -l)" = "$(cat "$here"/../../../shared/crds/*.yaml | grep -c '^kind: Custom')"
	check 'one of them is served' kube get rayclusters.ray.io
	check 'CRDs are installed by name' control_plane_crds rayclusters.ray.io
fi
check 'a quota is created' kube create quota gpus --hard=requests.nvidia.com/gpu=3
check 'its status is written' control_plane_until 30 \
	says 3 kube get quota gpus -o 'jsonpath={.status.hard}'
check 'a Pod within it' gpu_pod one
check 'its use is counted' control_plane_until 30 \
	says '"2"' kube get quota gpus -o 'jsonpath={.status.used}'
check 'a Pod beyond it is refused' says 'exceeded quota' sh -c \
	"'$CONTROL_PLANE_BIN/kubectl' --kubeconfig '$CONTROL_PLANE_DIR/admin.kubeconfig' \
	run two --image=example --overrides='{\"spec\":{\"containers\":[{\"name\":\"two\",\"image\":\"example\",
	\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]}}' 2>&1"
check 'controllers act as themselves' control_plane_until 5 audited create \
	serviceaccounts system:serviceaccount:kube-system:service-account-controller
stop managed 4

# A killed test takes its control plane with it.
# shellcheck disable=SC2016
bash -c '. "$1/control-plane.sh"; control_plane_start "$2" && touch "$2/up" &&
	read -r -t 60 <> <(:)' test "$here" "$work/killed" &
killed=$!
CONTROL_PLANE_DIR=$work/killed pids='' ports=''
check 'a third one starts' control_plane_until 60 test -e "$work/killed/up"
remember
kill -KILL $killed
check 'it ends with its test' control_plane_until 15 nothing_left

check 'an unknown flag is shown' says 'unknown flag: --no-such-flag' \
	sh_start "$work/broken" --no-such-flag
CONTROL_PLANE_DIR=$work/broken
control_plane_stop
finish
