#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the README's picture from the output of the program for the examples.
# usage: picture.sh GPUGATE
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(realpath "$1")
command='lint --select quota bad/quota.yaml bad/train.yaml'
cd deploy/examples || exit 2
# shellcheck disable=SC2086
"$program" $command --isolated --color always |
	python3 ../../tests/tools/picture.py "gpugate $command"
