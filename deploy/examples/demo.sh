#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's first command ends here. Lints the good examples, then the bad
# ones. Then asks the webhook, on loopback, about two Pods.
# usage: demo.sh GPUGATE GPUGATED
set -eu
gpugate=$1 gpugated=$2
here=$(dirname "$0")
work=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" 2>/dev/null || :; rm -rf "$work"' EXIT

fail() {
	echo "demo: $*" >&2
	exit 1
}

echo "== $gpugate lint $here/good"
"$gpugate" lint --isolated "$here/good"
echo
echo "== $gpugate lint $here/bad"
status=0
"$gpugate" lint --isolated "$here/bad" || status=$?
echo
[ "$status" -eq 1 ] || fail "expected findings (exit status 1), got $status"
echo "== $gpugate lint --diff $here/bad"
"$gpugate" lint --isolated --diff "$here/bad" || :
echo

echo "== $gpugated on 127.0.0.1, with certificates of its own"
"$gpugated" certs --dir "$work/certs" --dns localhost --ip 127.0.0.1 >/dev/null
: >"$work/log"
"$gpugated" --listen 127.0.0.1:0 --probe-listen 127.0.0.1:0 --drain 1 \
	--tls-cert "$work/certs/tls.crt" --tls-key "$work/certs/tls.key" \
	--policy "$here/reviews/policy.yaml" 2>"$work/log" &
server=$!
port='' tries=0
while [ "$tries" -lt 100 ]; do
	port=$(sed -n 's/.*"msg":"listening".*"port":\([0-9]*\).*/\1/p' "$work/log")
	[ -z "$port" ] || break
	kill -0 "$server" 2>/dev/null || break
	tries=$((tries + 1))
	sleep 0.1
done
[ -n "$port" ] || {
	cat "$work/log" >&2
	fail 'the webhook does not start'
}

# ask PATH REVIEW: prints the response, as the API server gets it
ask() {
	curl -sS --max-time 10 --cacert "$work/certs/ca.crt" \
		-H 'Content-Type: application/json' \
		--data-binary "@$here/reviews/$2.json" \
		"https://127.0.0.1:$port/$1"
}

echo "-- POST /validate: a Pod that asks for half a GPU"
ask validate deny >"$work/deny"
grep -q '"allowed":false' "$work/deny" || fail "not denied: $(cat "$work/deny")"
sed -n 's/.*"message":"\(\([^"\\]\|\\.\)*\)".*/denied: \1/p' "$work/deny" |
	sed 's/\\n/\n        /g; s/\\\(["\\]\)/\1/g'
echo
echo "-- POST /mutate: a Pod with two GPUs and no /dev/shm"
ask mutate patch >"$work/patch"
patch=$(sed -n 's/.*"patch":"\([^"]*\)".*/\1/p' "$work/patch")
[ -n "$patch" ] || fail "not patched: $(cat "$work/patch")"
echo "patched: $(echo "$patch" | base64 -d)" | sed 's/},{"op"/},\n         {"op"/g'
kill "$server"
wait "$server" || fail 'the webhook did not end well'
server=
echo
echo "The second folder has errors, so gpugate ended with status 1, as it would"
echo "in pre-commit or CI. Next: $gpugate explain shm-missing"
