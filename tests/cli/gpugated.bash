# SPDX-License-Identifier: Apache-2.0
# Common to the tests of the program gpugated: makes certificates, starts a server
# on free ports, and sends requests to it.
load helper

# Makes one CA and certificate for all tests of a file, and the library by which
# they move the clock of the server.
setup_file() {
	export GPUGATED=${GPUGATED:-$(dirname "${GPUGATE:-$BATS_TEST_DIRNAME/../../build/gpugate}")/gpugated}
	export CERTS=$BATS_FILE_TMPDIR/certs
	[ -x "$GPUGATED" ] || { echo "no program: $GPUGATED" >&2; return 1; }
	"$GPUGATED" certs --dir "$CERTS" --dns localhost --ip 127.0.0.1 >/dev/null
	${CC:-gcc} -O1 -shared -fPIC -o "$BATS_FILE_TMPDIR/clock.so" \
		"$BATS_TEST_DIRNAME/../webhook/moved_clock.c"
}

setup() {
	for name in $(env | sed -n 's/^\(GPUGATED_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
	export LC_ALL=C.UTF-8
	https=$BATS_TEST_DIRNAME/https.py
	cd "$BATS_TEST_TMPDIR" || exit 1
	pid= moved=0
	export CLOCK_AHEAD=$PWD/clock ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
	advance 0
}

# advance MS: moves the server's clock forward. The server maps the file `clock`,
# so its eight bytes are overwritten in place.
advance() {
	local hex i bytes=
	moved=$((moved + $1))
	printf -v hex %016x "$moved"
	for ((i = 14; i >= 0; i -= 2)); do
		bytes+="\x${hex:i:2}"
	done
	printf "$bytes" 1<>clock
}

teardown() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
}

# until_true COMMAND...: repeats the command until it succeeds, and moves the
# server's clock forward by a second each time. tests/webhook/admission.py checks
# how soon a change must take effect.
until_true() {
	local tries=2000
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "in vain: $*" >&2; cat log >&2; return 1; }
		advance 1000
		sleep 0.03
	done
}

logged() {
	grep -q -- "$1" log
}

port_of() {
	sed -n "s/.*\"msg\":\"$1\".*\"port\":\([0-9]*\).*/\1/p" log
}

# start ARGUMENTS: starts a server on free ports; sets pid, port and probe.
start() {
	: >log # an earlier server may have written it
	LD_PRELOAD=$BATS_FILE_TMPDIR/clock.so${LD_PRELOAD:+:$LD_PRELOAD} \
		"$GPUGATED" --listen 127.0.0.1:0 --probe-listen 127.0.0.1:0 \
		--tls-cert "$CERTS/tls.crt" --tls-key "$CERTS/tls.key" \
		"$@" 2>log 3>&- &
	pid=$!
	until_true logged '"msg":"ready"'
	port=$(port_of listening)
	probe=$(port_of 'probes listening')
}

# refused ARGUMENTS: expects that the server does not start and ends with status 2;
# sets errors to its messages.
refused() {
	run --separate-stderr timeout -k 1 60 "$GPUGATED" --listen 127.0.0.1:0 \
		--probe-listen 127.0.0.1:0 "$@"
	is "$status" 2
	errors=$stderr
}

# get PATH: prints the status and the body of a page of the probe port.
get() {
	local page status
	exec {page}<>"/dev/tcp/127.0.0.1/$probe" || return
	printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' \
		"$1" >&"$page"
	read -r _ status _ <&"$page"
	printf '%s ' "$status"
	sed '1,/^\r$/d' <&"$page"
	exec {page}>&-
}

# ask REQUESTED: prints the verdict on a Pod with a limit of one GPU that requests
# REQUESTED, and the uid.
ask() {
	python3 "$https" review "$CERTS/ca.crt" "$port" u-1 "$1"
}
