# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A real Kubernetes control plane on 127.0.0.1, for tests that source this file.
#
#   control_plane_start DIR [--crds] [--controller-manager] [API server flag...]
#                       --crds: with all CRDs, from a copy made the first time
#   control_plane_user NAME [GROUP[,GROUP]...]   writes DIR/NAME.kubeconfig
#   control_plane_crds [NAME...]                 install the operators' CRDs, all or some
#   control_plane_kill_apiserver                 SIGKILL
#   control_plane_restart_apiserver              SIGKILL, start on the same port
#   control_plane_stop                           for a trap; may be called twice
#   kube ARG...                                  kubectl as admin
#   kube_as NAME ARG...                          kubectl as that user
#   control_plane_until SECONDS COMMAND...       try until it succeeds
#   control_plane_free_port                      prints a port for a server of the test
#
# DIR contains admin.kubeconfig, ca.crt, ca.key, audit.log, and NAME.log and
# NAME.pid of each program. A function returns 77 (skip) if the CRDs are
# missing, or if the programs are missing and Go, which builds them, is absent
# or too old. Call control_plane_stop before DIR is removed.

control_plane_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

control_plane_say() {
	echo "control plane: $*" >&2
}

control_plane_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# Prints a different port each time, reserved for this test until it ends.
control_plane_free_port() {
	python3 "$control_plane_here/port.py" "$$"
}

# --- processes: DIR/NAME.pid holds the id and the time of its start ---------

# control_plane_since PID: prints its start time; nothing if it has ended
control_plane_since() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# shellcheck disable=SC2086
	set -- ${stat##*) }
	# A killed server is a zombie with threads until its ports are free.
	case $1-${18} in
	Z-1 | Z-0 | X-*) ;;
	*) echo "${20}" ;;
	esac
}

control_plane_alive() { # NAME
	local pid since
	{ read -r pid since <"$CONTROL_PLANE_DIR/$1.pid"; } 2>/dev/null || return 1
	[ -n "$since" ] && [ "$(control_plane_since "$pid")" = "$since" ]
}

control_plane_dead() { # NAME
	! control_plane_alive "$1"
}

# control_plane_run NAME COMMAND...: runs a program or a function in the
# background, with none of the caller's open files (bats and flock would wait
# for them)
control_plane_run() {
	local name=$1 pid
	shift
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || eval "exec $fd>&-"
		done
		[ "$(type -t "$1")" = function ] || exec "$@"
		"$@"
	) </dev/null >>"$CONTROL_PLANE_DIR/$name.log" 2>&1 &
	pid=$!
	disown "$pid" 2>/dev/null || true
	echo "$pid $(control_plane_since "$pid")" >"$CONTROL_PLANE_DIR/$name.pid"
}

control_plane_kill() { # NAME
	local pid since
	if control_plane_alive "$1"; then
		read -r pid since <"$CONTROL_PLANE_DIR/$1.pid"
		kill -KILL "$pid" 2>/dev/null || true
		control_plane_until 10 control_plane_dead "$1"
	fi
	rm -f "$CONTROL_PLANE_DIR/$1.pid"
}

# Waits until the test has ended, even if it was killed, and then ends its
# control plane.
control_plane_watch() {
	trap '' INT TERM HUP
	# A pipe without input: sleeps without starting a process.
	exec <> <(:)
	while [ -n "$(control_plane_since "$$")" ]; do
		read -r -t 1 || true
	done
	control_plane_end
}

control_plane_end() {
	local name
	for name in kube-controller-manager kube-apiserver etcd; do
		control_plane_kill "$name"
	done
}

control_plane_stop() {
	[ -n "${CONTROL_PLANE_DIR:-}" ] || return 0
	control_plane_kill watch
	control_plane_end
}

# --- certificates and users --------------------------------------------------

control_plane_key() { # FILE
	openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

# control_plane_sign FILE SUBJECT EXTENSIONS: writes FILE.key and FILE.crt
control_plane_sign() {
	control_plane_key "$1.key" &&
		openssl req -new -key "$1.key" -subj "$2" -out "$1.csr" &&
		openssl x509 -req -in "$1.csr" -CA "$CONTROL_PLANE_DIR/ca.crt" \
			-CAkey "$CONTROL_PLANE_DIR/ca.key" -days 2 -out "$1.crt" \
			-set_serial "0x$(openssl rand -hex 8)" \
			-extfile <(printf '%b\n' "$3") 2>/dev/null
}

control_plane_certificates() {
	local dir=$CONTROL_PLANE_DIR
	control_plane_key "$dir/ca.key" &&
		openssl req -x509 -new -key "$dir/ca.key" -subj /CN=test-ca \
			-days 2 -out "$dir/ca.crt" &&
		openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null &&
		openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2>/dev/null &&
		control_plane_sign "$dir/serving" /CN=kube-apiserver \
			'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth'
}

control_plane_user() {
	local dir=$CONTROL_PLANE_DIR name=$1 subject='' group
	local IFS=,
	for group in ${2:-}; do
		subject=$subject/O=${group//\//\\/}
	done
	control_plane_sign "$dir/$name" "$subject/CN=${name//\//\\/}" \
		extendedKeyUsage=clientAuth || return
	cat >"$dir/$name.kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	current-context: test
	contexts:
	- name: test
	  context: {cluster: test, user: test}
	clusters:
	- name: test
	  cluster:
	    server: https://127.0.0.1:$(cat "$dir/port")
	    certificate-authority-data: $(base64 -w0 "$dir/ca.crt")
	users:
	- name: test
	  user:
	    client-certificate-data: $(base64 -w0 "$dir/$name.crt")
	    client-key-data: $(base64 -w0 "$dir/$name.key")
	END
}

# Keeps kubectl's cache in the folder of this control plane, because later ones
# use the same ports.
kube_as() {
	local name=$1
	shift
	"$CONTROL_PLANE_BIN/kubectl" --cache-dir "$CONTROL_PLANE_DIR/kubectl" \
		--kubeconfig "$CONTROL_PLANE_DIR/$name.kubeconfig" "$@"
}

kube() {
	kube_as admin "$@"
}

# --- start -------------------------------------------------------------------

control_plane_etcd() {
	local peer client
	peer=http://127.0.0.1:$(control_plane_free_port)
	client=http://127.0.0.1:$(control_plane_free_port)
	echo "$client" >"$CONTROL_PLANE_DIR/etcd.url"
	control_plane_run etcd "$CONTROL_PLANE_BIN/etcd" \
		--data-dir "$CONTROL_PLANE_DIR/etcd" --log-level error \
		--listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" \
		--initial-cluster "default=$peer" \
		--listen-client-urls="$client" --advertise-client-urls="$client" \
		--unsafe-no-fsync=true
}

control_plane_apiserver() {
	local dir=$CONTROL_PLANE_DIR port flags=()
	port=$(cat "$dir/port")
	mapfile -d '' -t flags <"$dir/flags"
	control_plane_run kube-apiserver "$CONTROL_PLANE_BIN/kube-apiserver" \
		--etcd-servers="$(cat "$dir/etcd.url")" --cert-dir="$dir/kas" \
		--bind-address=127.0.0.1 --advertise-address=127.0.0.1 \
		--endpoint-reconciler-type=none --secure-port="$port" \
		--tls-cert-file="$dir/serving.crt" \
		--tls-private-key-file="$dir/serving.key" \
		--client-ca-file="$dir/ca.crt" --authorization-mode=RBAC \
		--allow-privileged=true --service-cluster-ip-range=10.0.0.0/24 \
		--disable-admission-plugins=ServiceAccount \
		--service-account-issuer="https://127.0.0.1:$port/" \
		--service-account-key-file="$dir/sa.pub" \
		--service-account-signing-key-file="$dir/sa.key" \
		--audit-policy-file="$dir/audit-policy.yaml" \
		--audit-log-path="$dir/audit.log" "${flags[@]}"
}

control_plane_controller_manager() {
	local dir=$CONTROL_PLANE_DIR
	control_plane_user system:kube-controller-manager &&
		control_plane_run kube-controller-manager \
			"$CONTROL_PLANE_BIN/kube-controller-manager" --secure-port=0 \
			--kubeconfig="$dir/system:kube-controller-manager.kubeconfig" \
			--use-service-account-credentials=true \
			--service-account-private-key-file="$dir/sa.key" \
			--root-ca-file="$dir/ca.crt" --leader-elect=false \
			--controllers='*,-nodelifecycle'
}

# Succeeds if the API server is ready and has its first namespaces, which it
# creates a moment later.
control_plane_answers() {
	[ "$(kube get --raw /readyz --request-timeout=2s 2>/dev/null)" = ok ] &&
		kube get namespace default kube-system >/dev/null 2>&1
}

control_plane_manages() {
	kube get serviceaccount default >/dev/null 2>&1
}

control_plane_answers_or_ends() { # NAME COMMAND
	control_plane_dead "$1" || "$2"
}

# control_plane_wait NAME COMMAND: waits until COMMAND succeeds or the program
# ends, 60 s at most
control_plane_wait() {
	if control_plane_until 60 control_plane_answers_or_ends "$1" "$2" &&
		control_plane_alive "$1"; then
		return 0
	fi
	control_plane_say "$1 does not start; its log ends:"
	tail -n 20 "$CONTROL_PLANE_DIR/$1.log" >&2
	return 1
}

# control_plane_servers [ETCD-DATA]: starts etcd, with a copy of the data, and
# the API server
control_plane_servers() {
	rm -rf "${CONTROL_PLANE_DIR:?}/etcd"
	[ -z "${1:-}" ] ||
		cp -r --sparse=always "$1" "$CONTROL_PLANE_DIR/etcd" || return
	control_plane_free_port >"$CONTROL_PLANE_DIR/port"
	control_plane_user admin system:masters &&
		control_plane_etcd && control_plane_apiserver &&
		control_plane_wait kube-apiserver control_plane_answers
}

control_plane_port_taken() {
	grep -qs 'address already in use' "$CONTROL_PLANE_DIR/etcd.log" \
		"$CONTROL_PLANE_DIR/kube-apiserver.log"
}

control_plane_start() {
	local want=(etcd kube-apiserver kubectl) manager='' crds='' data=''
	mkdir -p "$1" || return
	CONTROL_PLANE_DIR=$(cd "$1" && pwd) || return
	shift
	while :; do
		case ${1:-} in
		--crds) crds=yes ;;
		--controller-manager)
			manager=yes
			want+=(kube-controller-manager)
			;;
		*) break ;;
		esac
		shift
	done
	CONTROL_PLANE_BIN=$("$control_plane_here/build.sh" "${want[@]}") || return
	export CONTROL_PLANE_DIR CONTROL_PLANE_BIN
	if [ -n "$crds" ]; then
		data=$(control_plane_crds_data) || return
	fi
	: >"$CONTROL_PLANE_DIR/flags"
	[ $# -eq 0 ] || printf '%s\0' "$@" >"$CONTROL_PLANE_DIR/flags"
	printf '%s\n' 'apiVersion: audit.k8s.io/v1' 'kind: Policy' \
		'omitStages: [RequestReceived]' 'rules: [{level: Metadata}]' \
		>"$CONTROL_PLANE_DIR/audit-policy.yaml"
	control_plane_certificates || return
	control_plane_run watch control_plane_watch
	# Retries if another program has taken a port in the meantime.
	control_plane_servers "$data" || {
		control_plane_end
		control_plane_port_taken || return 1
		control_plane_servers "$data" || return
	}
	if [ -n "$manager" ]; then
		control_plane_controller_manager &&
			control_plane_wait kube-controller-manager control_plane_manages
	fi
}

control_plane_kill_apiserver() {
	control_plane_kill kube-apiserver
}

control_plane_restart_apiserver() {
	control_plane_kill kube-apiserver && control_plane_apiserver &&
		control_plane_wait kube-apiserver control_plane_answers
}

# --- the operators' kinds ----------------------------------------------------

control_plane_crds_folder() {
	(cd "$control_plane_here/../../../shared/crds" 2>/dev/null && pwd) || {
		control_plane_say 'no CRDs: ../shared/crds is not beside the checkout'
		return 77
	}
}

control_plane_crds() {
	local folder name files=()
	folder=$(control_plane_crds_folder) || return
	for name; do
		files+=(-f "$folder/$name.yaml")
	done
	[ $# -gt 0 ] || files=(-f "$folder")
	kube apply --server-side --validate=false "${files[@]}" >/dev/null &&
		kube wait --for=condition=Established --timeout=60s "${files[@]}" >/dev/null
}

# control_plane_crds_data: prints a folder of etcd's data with all CRDs, made by
# the first caller for these CRDs and this API server
control_plane_crds_data() {
	local cache=${GPUGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpugate-tests}
	local folder data
	folder=$(control_plane_crds_folder) || return
	data=$cache/crds-$({
		"$CONTROL_PLANE_BIN/kube-apiserver" --version
		cat "$folder"/*.yaml
	} | sha256sum | cut -c1-16)
	if [ ! -d "$data" ]; then
		control_plane_say 'installing the CRDs (half a minute, once)'
		(
			flock 8
			[ -d "$data" ] || control_plane_crds_make "$data"
		) 8>"$cache/crds.lock" >&2 || return
	fi
	echo "$data"
}

control_plane_crds_make() { # DATA; in a subshell
	local work status=0
	work=$(mktemp -d "$1.XXXXXX") || return
	control_plane_start "$work" && control_plane_crds || status=$?
	sleep 1 # until etcd has written its batches
	control_plane_stop
	# Remove the space that etcd reserves for its next log.
	rm -f "$work/etcd/member/wal/0.tmp"
	[ $status != 0 ] || cp -r --sparse=always "$work/etcd" "$work/sparse"
	[ $status != 0 ] || mv "$work/sparse" "$1" || status=$?
	rm -rf "$work"
	return $status
}
