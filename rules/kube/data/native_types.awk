# SPDX-License-Identifier: Apache-2.0
#
# native_types.tsv and native_defaults.tsv to C (../typed/native.h): a type is
# its number, its fields and defaults are runs of two arrays. POSIX awk.

function fail(what)
{
	print FILENAME ": " what >"/dev/stderr"
	exit failed = 1
}

function flag(c)
{
	return c == "*" ? "NATIVE_POINTER" : c == "[" ? "NATIVE_LIST" : \
		c == "{" ? "NATIVE_MAP" : ""
}

function write_field(text,    name, form, flags, type)
{
	name = text
	sub(/=.*/, "", name)
	form = substr(text, length(name) + 2)
	flags = "0"
	if (sub(/0$/, "", form))
		flags = flags " | NATIVE_OMIT_ZERO"
	if (sub(/!$/, "", form))
		flags = flags " | NATIVE_ALWAYS"
	for (; flag(substr(form, 1, 1)) != ""; form = substr(form, 2))
		flags = flags " | " flag(substr(form, 1, 1))
	type = 0
	if (substr(form, 1, 1) == "T") {
		type = substr(form, 2)
		if (!(type in number))
			fail("no type " type)
		type = number[type]
	}
	printf "\t{\"%s\", '%s', %s, %d},\n", name, substr(form, 1, 1), \
		flags, type
}

function constant(what, type)
{
	printf "const unsigned native_%s = %d;\n", what, number[type]
}

BEGIN { FS = "\t"; types = 0 }
/^#/ || NF == 0 { next }

FILENAME ~ /native_types/ && $1 == "@" { kind[++kinds] = $0; next }
FILENAME ~ /native_types/ {
	number[$1] = types
	name[types] = $1
	fields[types++] = $2
	next
}

{
	rows[$1]++
	row[$1, rows[$1]] = $2 "\", \"" $3 "\", \"" ($4 == "\"\"" ? "" : $4)
	if ($1 != "@" && !($1 in number))
		fail("no type " $1)
}

END {
	if (failed)
		exit failed
	print "#include \"rules/kube/typed/native.h\"\n"
	print "const struct native_field native_fields[] = {"
	for (t = 0; t < types; t++) {
		first[t] = at
		n = split(fields[t], field, " ")
		for (i = 1; i <= n; i++)
			write_field(field[i])
		at += n
	}
	print "};\nconst struct native_default native_defaults[] = {"
	name[types] = "@"
	for (t = at2 = 0; t <= types; t++) {
		first2[t] = at2
		for (i = 1; i <= rows[name[t]]; i++)
			printf "\t{\"%s\"},\n", row[name[t], i]
		at2 += rows[name[t]]
	}
	print "};\nconst struct native_type native_types[] = {"
	for (t = 0; t <= types; t++)
		printf "\t{\"%s\", %d, %d, %d, %d},\n", name[t], first[t], \
			split(fields[t], field, " "), first2[t], rows[name[t]]
	print "};\nconst struct native_kind native_kinds[] = {"
	for (i = 1; i <= kinds; i++) {
		split(kind[i], k, "\t")
		printf "\t{\"%s\", \"%s\", \"%s\", \"%s\", %s, %d},\n", \
			k[2] == "-" ? "" : k[2], k[3], k[4], k[5], \
			k[6] == "Cluster" ? "true" : "false", number[k[7]]
	}
	printf "\t{NULL, NULL, NULL, NULL, false, 0},\n};\n"
	printf "const unsigned native_every = %d;\n", types
	constant("template", "PodTemplateSpec")
	constant("pod_spec", "PodSpec")
	constant("container", "Container")
	constant("metadata", "ObjectMeta")
}
