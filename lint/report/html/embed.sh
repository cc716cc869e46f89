#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the style sheet and the script of HTML pages as C strings, each with its
# hash for the page's Content-Security-Policy (CSP Level 3, "hash-source").
# usage: embed.sh STYLE SCRIPT
set -eu
LC_ALL=C
export LC_ALL
echo '/* Made by lint/report/html/embed.sh: do not edit. */'

# Base64 of the SHA-256 of standard input: three hex digits are two characters.
hash() {
	sha256sum | awk '{
		hex = "0123456789abcdef"
		base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
			"0123456789+/"
		for (i = 1; i <= 64; i += 3) {
			bits = 0
			for (k = 0; k < 3; k++)
				bits = bits * 16 + (i + k > 64 ? 0 : \
					index(hex, substr($1, i + k, 1)) - 1)
			printf "%s%s", substr(base64, int(bits / 64) + 1, 1), \
				i == 64 ? "=" : \
				substr(base64, bits % 64 + 1, 1)
		}
	}'
}

embed() { # NAME FILE
	grep -v '^/\* SPDX' "$2" | sed 's/^	*//' >"$work"
	name=$(echo "$1" | tr '[:upper:]' '[:lower:]')
	echo "#define HTML_$1_HASH \"sha256-$(hash <"$work")\""
	printf 'static const char html_%s[] =\n' "$name"
	sed 's/[\\"?]/\\&/g; s/.*/	"&\\n"/; $s/$/;/' "$work"
}

work=$(mktemp)
trap 'rm -f "$work"' EXIT
embed STYLE "$1"
embed SCRIPT "$2"
