#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lists the settings that a publisher still has to make, one per line, and steps
# by hand, which it cannot check. Exits with 1 if a setting is missing.
set -u
cd "$(dirname "$0")/../.." || exit 2
todo=0

# to_set WHERE WHAT
to_set() {
	echo "to set  $1: $2"
	todo=$((todo + 1))
}

[ "$OWNER" != OWNER ] ||
	to_set deploy/release/release.mk 'OWNER: make publish OWNER=NAME'
! grep -q 'OWNER/' deploy/ci/README.md ||
	to_set deploy/ci/README.md 'OWNER: make publish OWNER=NAME'
case $MAINTAINER in
*@gpugate.dev*)
	to_set deploy/release/release.mk "MAINTAINER of the packages: $MAINTAINER"
	;;
esac
[ -n "$DOCS_URL" ] || to_set lint/lint.mk \
	'DOCS_URL: where rules/docs is published, for the links of reports'
! grep -q '^  repository: gpugate/gpugated$' deploy/chart/gpugate/values.yaml ||
	to_set deploy/chart/gpugate/values.yaml \
		'image.repository; then deploy/chart/kustomize.sh HELM'
for file in deploy/argocd/presync.yaml deploy/argocd/cmp/repo-server.yaml; do
	! grep -q 'image: gpugate/' "$file" || to_set "$file" image
done
! grep -q example.com deploy/editors/vscode/package.json ||
	to_set deploy/editors/vscode/package.json 'publisher, repository, private'
for file in README.md deploy/README.md; do
	! grep -qE '^No (tag|image).* is published yet' "$file" ||
		to_set "$file" 'it states that nothing is published'
done
deploy/release/check-tag.sh "v$VERSION" || todo=$((todo + 1))
tagged=$(git rev-parse -q --verify "v$VERSION^{commit}" 2>/dev/null)
[ -n "$tagged" ] && [ "$tagged" = "$(git rev-parse HEAD)" ] ||
	to_set "v$VERSION" 'the tag of this commit'
cat <<EOF
by hand PyPI (gpugate), krew's index, the registry of the image, the extension's
        publisher, the repository of deploy/pre-commit-mirror, and private reports
        of vulnerabilities (.github/SECURITY.md)
EOF
[ "$todo" -eq 0 ]
