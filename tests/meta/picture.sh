#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's picture: what the program prints of the examples.
# usage: picture.sh GPUGATE
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(realpath "$1")
command='lint --select quota bad/quota.yaml bad/train.yaml'
cd deploy/examples || exit 2
# shellcheck disable=SC2086
"$program" $command --isolated --color always |
	python3 ../../tests/tools/picture.py "gpugate $command"
