# SPDX-License-Identifier: Apache-2.0
#
# Converts the *.tsv tables to C. Each file becomes one array; "-" becomes
# NULL. POSIX awk; generate.sh has sorted the rows by their first columns
# (LC_ALL=C), except where the order of the file counts. Tables whose names are
# looked up for every object get a hash table of row numbers + 1 and tags
# (tag.awk).

function text(s)
{
	return s == "-" ? "NULL" : "\"" s "\""
}

function write_slots(    i, at, slot)
{
	for (i = 1; i <= rows; i++) {
		for (at = tag(row[i]) % SLOTS; at in slot;)
			at = (at + 1) % SLOTS
		slot[at] = i
	}
	printf "const struct data_slot %s_slots[%d] = {", opened, SLOTS
	for (i = 0; i < SLOTS; i++)
		printf "%s{%d, %d},", i % 8 ? " " : "\n\t", slot[i], \
			slot[i] ? tag(row[slot[i]]) : 0
	printf "\n};\n"
	# Numbers of the rows that are prefixes, the last row first.
	printf "const unsigned short %s_prefixes[] = {", opened
	for (i = rows; i >= 1; i--)
		if (row[i] ~ /\*$/)
			printf "%d, ", i
	printf "0};\n"
}

# Writes the tables that find patterns by a pair of adjacent bytes: for each
# pattern the pair that the fewest patterns contain. A slot has the number of
# the first row with its pair, the chain that of the next row.
function write_pairs(    i, j, n, c, pair, slot, best, few, uses, next_)
{
	for (i = 1; i <= rows; i++)
		for (j = 1; j < length(row[i]); j++)
			uses[pair_at(row[i], j)]++
	for (i = rows; i >= 1; i--) {
		best = -1
		for (j = 1; j < length(row[i]); j++) {
			pair = pair_at(row[i], j)
			if (pair >= 0 && (best < 0 || uses[pair] < few)) {
				best = pair
				few = uses[pair]
			}
		}
		if (best < 0) {
			print "no two letters in " row[i] >"/dev/stderr"
			exit 1
		}
		next_[i] = slot[best]
		slot[best] = i
	}
	printf "const unsigned char %s_pairs[%d] = {", opened, PAIRS
	for (i = 0; i < PAIRS; i++)
		printf "%s%d,", i % 16 ? " " : "\n\t", slot[i]
	printf "\n};\nconst unsigned char %s_next[] = {0, ", opened
	for (i = 1; i <= rows; i++)
		printf "%d, ", next_[i]
	printf "};\n"
}

# Returns the slot of the pair of bytes at a position; -1 if one is a wildcard.
function pair_at(pattern, at,    a, b)
{
	a = substr(pattern, at, 1)
	b = substr(pattern, at + 1, 1)
	return a == "*" || b == "*" ? -1 : (ord[a] * 37 + ord[b]) % PAIRS
}

function open_table(name, type)
{
	if (opened)
		printf "};\nconst size_t %s_n = sizeof(%s) / sizeof(*%s);\n", \
			opened, opened, opened
	if (opened && hashed)
		write_slots()
	if (opened == "data_images")
		write_pairs()
	rows = hashed = 0
	opened = name
	if (name != "")
		printf "\nconst struct %s %s[] = {\n", type, name
}

BEGIN {
	FS = "\t"
	SLOTS = 1024 # DATA_SLOTS of data.h
	PAIRS = 1024 # DATA_PAIRS of data.h
	type["accelerators"] = "accelerator"
	type["fabric"] = "data_pattern"
	type["reserved_domains"] = "data_pattern"
	type["node_labels"] = "node_label"
	type["label_values"] = "label_value"
	type["instance_types"] = "instance_type"
	type["mig_profiles"] = "mig_profile"
	type["products"] = "product_size"
	type["removed_versions"] = "removed_version"
	type["device_paths"] = "device_path"
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

table == "accelerators" || table == "node_labels" ||
table == "instance_types" {
	row[++rows] = $1
	hashed = 1
	if (rows > SLOTS / 2) {
		print "too many rows for SLOTS" >"/dev/stderr"
		exit 1
	}
}
table == "accelerators" && $4 != "-" && !($4 in taint) {
	taint[$4] = 1
	taints = taints "\t\"" $4 "\",\n"
}
table == "accelerators" {
	printf "\t{\"%s\", \"%s\", ACCEL_%s, %s, false},\n", $1, $2, \
		toupper($3), text($4)
}
table == "fabric" || table == "reserved_domains" { printf "\t{\"%s\"},\n", $1 }
table == "node_labels" {
	printf "\t{\"%s\", LABEL_%s, %s, %s},\n", $1, toupper($2), text($3), text($4)
}
table == "label_values" {
	printf "\t{\"%s\", \"%s\", \"%s\", %s},\n", $1, $2, $3, text($4)
}
table == "instance_types" {
	printf "\t{\"%s\", %s, %s, %s, %d, %d, %d},\n", $1, text($2), \
		text($3), $4, $5, $6, $7
}
table == "mig_profiles" { printf "\t{\"%s\", %s},\n", $1, text($2) }
table == "removed_versions" {
	printf "\t{\"%s\", \"%s\", %s, %d, %s},\n", $1, $2, \
		$3 == "*" ? "NULL" : text($3), $4, $5 ? text($5) : "NULL"
}
table == "device_paths" {
	printf "\t{\"%s\", HOST_SHOWS_%s},\n", $1, toupper($2)
}
table == "products" { printf "\t{\"%s\", %d},\n", $1, $2 }
table == "images" {
	row[++rows] = $2
	if (rows > 64) {
		print "more than 64 images" >"/dev/stderr"
		exit 1
	}
	printf "\t{IMAGE_%s, \"%s\"},\n", toupper($1), $2
}

END {
	open_table("", "")
	printf "\nconst char *const data_taints[] = {\n%s\tNULL};\n", taints
}
