#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes image layouts and bills of materials of both programs to $RELEASE_DIR.
# usage: images.sh SYSTEM-ARCHITECTURE
set -eu
here=$(dirname "$0")
python3 "$here/image.py" "$1" gpugate
python3 "$here/image.py" "$1" gpugated gpugate
# shellcheck disable=SC2046
python3 "$here/sbom.py" gpugated "$1" dynamic \
	$(python3 "$here/image.py" packages gpugated)
# shellcheck disable=SC2046
python3 "$here/sbom.py" gpugate "$1" static $(dpkg-query -W \
	-f '${source:Package}=${source:Version}\n' \
	libc6-dev libjansson-dev libpcre2-dev libyaml-dev)
