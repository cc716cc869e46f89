#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the oracle as BUILD/tests/oracle/oracle. Checks that run side by side
# share it: one builds, the others wait. Not stamped with the state of the
# checkout, so that no check rebuilds it while another one runs it.
# usage: build.sh BUILD
set -eu
mkdir -p "$1/tests/oracle"
folder=$(cd "$1/tests/oracle" && pwd)
cd "$(dirname "$0")"
exec flock "$folder/lock" go build -buildvcs=false -o "$folder/oracle" .
