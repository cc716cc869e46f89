#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's first command ends here: lint what is good, then what is not.
set -eu
gpugate=$1
here=$(dirname "$0")
echo "== $gpugate lint $here/good"
"$gpugate" lint --isolated "$here/good"
echo
echo "== $gpugate lint $here/bad"
status=0
"$gpugate" lint --isolated "$here/bad" || status=$?
echo
if [ "$status" -ne 1 ]; then
	echo "demo: expected findings (exit status 1), got $status" >&2
	exit 1
fi
echo "== $gpugate lint --diff $here/bad"
"$gpugate" lint --isolated --diff "$here/bad" || :
echo
echo "The second folder has errors, so gpugate ended with status 1, as it would"
echo "in pre-commit or CI. Next: $gpugate explain shm-missing"
