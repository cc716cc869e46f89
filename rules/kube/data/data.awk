# SPDX-License-Identifier: Apache-2.0
#
# The *.tsv tables to C. Each file becomes one sorted array; "-" is NULL.
# POSIX awk; the files are given in any order and sorted by their first
# columns before (LC_ALL=C sort). Names that are looked up for every object
# get a hash table of row numbers + 1 beside, by node_tag() of doc/node.h.

function text(s)
{
	return s == "-" ? "NULL" : "\"" s "\""
}

function tag(s,    n)
{
	n = length(s)
	return (n * 11 + ord[substr(s, 1, 1)] * 17 + \
		ord[substr(s, int(n / 2) + 1, 1)] * 29 + \
		ord[substr(s, n, 1)] * 5) % 65536
}

function write_slots(    i, at, slot)
{
	for (i = 1; i <= rows; i++) {
		for (at = tag(row[i]) % SLOTS; at in slot;)
			at = (at + 1) % SLOTS
		slot[at] = i
	}
	printf "const unsigned short %s_slots[%d] = {", opened, SLOTS
	for (i = 0; i < SLOTS; i++)
		printf "%s%d,", i % 16 ? " " : "\n\t", slot[i]
	printf "\n};\n"
}

function open_table(name, type)
{
	if (opened)
		printf "};\nconst size_t %s_n = sizeof(%s) / sizeof(*%s);\n", \
			opened, opened, opened
	if (opened && hashed)
		write_slots()
	rows = hashed = 0
	opened = name
	if (name != "")
		printf "\nconst struct %s %s[] = {\n", type, name
}

BEGIN {
	FS = "\t"
	SLOTS = 512 # DATA_SLOTS of data.h
	for (i = 1; i < 256; i++)
		ord[sprintf("%c", i)] = i
	type["accelerators"] = "accelerator"
	type["fabric"] = "pattern"
	type["node_labels"] = "node_label"
	type["label_values"] = "label_value"
	type["instance_types"] = "instance_type"
	type["mig_profiles"] = "mig_profile"
	type["images"] = "image_pattern"
}

/^#/ || NF == 0 { next }

$1 == "@table" {
	if (!($2 in type)) {
		print "unknown table " $2 >"/dev/stderr"
		exit 1
	}
	open_table("data_" $2, type[$2])
	table = $2
	next
}

table == "accelerators" || table == "node_labels" {
	row[++rows] = $1
	hashed = 1
	if (rows > SLOTS / 2) {
		print "too many rows for SLOTS" >"/dev/stderr"
		exit 1
	}
}
table == "accelerators" {
	printf "\t{\"%s\", \"%s\", ACCEL_%s, %s},\n", $1, $2, toupper($3), text($4)
}
table == "fabric" { printf "\t{\"%s\"},\n", $1 }
table == "node_labels" {
	printf "\t{\"%s\", LABEL_%s, %s, \"%s\"},\n", $1, toupper($2), text($3), $4
}
table == "label_values" {
	printf "\t{\"%s\", \"%s\", \"%s\", %s},\n", $1, $2, $3, text($4)
}
table == "instance_types" {
	printf "\t{\"%s\", %s, %s, %s},\n", $1, text($2), text($3), $4
}
table == "mig_profiles" { printf "\t{\"%s\", \"%s\"},\n", $1, $2 }
table == "images" {
	printf "\t{IMAGE_%s, \"%s\"},\n", toupper($1), $2
}

END { open_table("", "") }
