#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the manifest of the kubectl plugin for krew, for the tarballs in
# $RELEASE_DIR.
set -eu
cat <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: gpugate
spec:
  version: v$VERSION
  homepage: $RELEASE_URL
  shortDescription: Lint manifests of GPU workloads
  description: |
    Reads Kubernetes manifests of workloads that use GPUs and reports, with
    file, line and column, what wastes or breaks GPUs. Needs no cluster; with
    kubectl gpugate snapshot it also knows quotas, queues and nodes.
  platforms:
EOF
for file in "$RELEASE_DIR"/gpugate-"$VERSION"-*-*.tar.gz; do
	name=${file##*/}
	system=${name#"gpugate-$VERSION-"}
	system=${system%.tar.gz}
	cat <<EOF
  - selector:
      matchLabels:
        os: ${system%-*}
        arch: ${system#*-}
    uri: $RELEASE_URL/releases/download/v$VERSION/$name
    sha256: $(sha256sum <"$file" | cut -d' ' -f1)
    files:
    - from: gpugate-$VERSION-$system/gpugate
      to: .
    - from: gpugate-$VERSION-$system/LICENSE
      to: .
    bin: gpugate
EOF
done
