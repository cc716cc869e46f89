# SPDX-License-Identifier: Apache-2.0
#
# Converts native_types.tsv, custom_types.tsv, native_constraints.tsv and
# native_defaults.tsv to C (../typed/native.h). Types are numbered; the fields,
# constraints and defaults of a type are ranges of arrays. POSIX awk.

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

# Splits FIELD=FORM into name, form and words (the name of an enumeration).
function split_field(text)
{
	name = text
	sub(/=.*/, "", name)
	form = substr(text, length(name) + 2)
	words = ""
	if (match(form, /\(.*\)/)) {
		words = substr(form, RSTART + 1, RLENGTH - 2)
		form = substr(form, 1, RSTART - 1) \
			substr(form, RSTART + RLENGTH)
	}
}

function type_of(form)
{
	gsub(/^[*[{]*|[+!0]*$/, "", form)
	return form ~ /^T/ ? substr(form, 2) : ""
}

# True if the field, or a field below it, has a property: an enumeration (mark
# W), a required field (R) or a constraint (C). `of` is the type that has the
# field.
function leads_to(mark)
{
	return mark == "W" && words != "" || mark == "R" && form ~ /[+]/ || \
		mark == "C" && (of, name) in constrained || \
		(mark, type_of(form)) in leads
}

# Marks each type that has a field for which leads_to(mark) is true. Returns the
# number of newly marked types.
function mark_types(mark,    t, n, i, field, new)
{
	new = 0
	for (t = 0; t < types; t++) {
		of = name_of[t]
		n = split(fields[t], field, " ")
		for (i = 1; i <= n && !((mark, name_of[t]) in leads); i++) {
			split_field(field[i])
			if (leads_to(mark)) {
				leads[mark, name_of[t]] = 1
				new++
			}
		}
	}
	return new
}

# Adds a field with allowed words to the list of its type; at is its index in
# native_fields.
function add_word_field(t, at,    bit)
{
	bit = tag(name) % 64
	word_field[++word_fields] = at
	if (!((t, bit) in tagged))
		tags[t] = tags[t] " | UINT64_C(1) << " bit
	tagged[t, bit] = 1
}

# Adds the field, number i of type t, to the hash table of the type.
function add_slot(t, i,    at)
{
	for (at = tag(name); first_slot[t] + at % slots_of[t] in slot; at++)
		;
	slot[first_slot[t] + at % slots_of[t]] = i
}

function write_field(text, t, at,    flags, type)
{
	split_field(text)
	of = name_of[t]
	flags = "0"
	if (leads_to("W"))
		add_word_field(t, at)
	if (leads_to("R"))
		flags = flags " | NATIVE_REQUIREMENTS"
	if (leads_to("C"))
		flags = flags " | NATIVE_CONSTRAINTS"
	if (sub(/[+]/, "", form))
		flags = flags " | NATIVE_REQUIRED"
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
	if (words != "" && !(words in enum))
		fail("no words of " words)
	if (words != "" && enum[words] > 255)
		fail("too many enumerations for native_field.values")
	printf "\t{\"%s\", '%s', %s, %d, %d, %d, %d},\n", name, \
		substr(form, 1, 1), flags, type, \
		words == "" ? 0 : enum[words], length(name), tag(name)
}

# Adds a constraint of a field, or of the items of field "x[]".
function add_constraint(type, field, kind, argument, zero, since,    items)
{
	items = sub(/\[\]$/, "", field)
	gsub(/[\\"]/, "\\\\&", argument)
	constrained[type, field] = 1
	constraint[type, ++constraints[type]] = "\"" field "\", " \
		length(field) ", " tag(field) ", CONSTRAINT_" toupper(kind) \
		", \"" argument "\", " (items ? "true" : "false") ", " \
		(zero == "zero" ? "true" : "false") ", " \
		(since == "" ? "NULL" : "\"" since "\"")
}

function constant(what, type)
{
	printf "const unsigned native_%s = %d;\n", what, number[type]
}

BEGIN { FS = "\t"; types = 0 }
/^#/ || NF == 0 { next }

FILENAME ~ /native_types/ && $1 == "@" { kind[++kinds] = $0; next }
FILENAME ~ /custom_types/ && $1 == "@" { custom[++customs] = $0; next }
FILENAME ~ /native_constraints/ { add_constraint($1, $2, $3, $4); next }
FILENAME ~ /custom_types/ && $1 == "!" {
	add_constraint($2, $3, $4, $5, $6, $7)
	next
}
FILENAME ~ /(native|custom)_types/ && $1 == "=" {
	enum[$2] = ++enums
	for (i = 3; i <= NF; i++)
		if ($i != "") # as if it were not set
			list[enums] = list[enums] "\"" $i "\", "
	next
}
FILENAME ~ /(native|custom)_types/ {
	number[$1] = types
	name_of[types] = $1
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
	while (mark_types("W") + mark_types("R") + mark_types("C"))
		;
	for (i = 1; i <= enums; i++)
		printf "static const char *const words_%d[] = {%sNULL};\n", \
			i, list[i]
	print "const char *const *const native_enums[] = {\n\tNULL,"
	for (i = 1; i <= enums; i++)
		printf "\twords_%d,\n", i
	print "};\nconst struct native_field native_fields[] = {"
	for (t = 0; t < types; t++) {
		first[t] = at
		first_word[t] = word_fields + 0
		n = split(fields[t], field, " ")
		if (n > 255)
			fail("too many fields of " name_of[t])
		first_slot[t] = slots + 0
		for (slots_of[t] = 1; slots_of[t] < 2 * n; slots_of[t] *= 2)
			;
		slots += slots_of[t]
		for (i = 1; i <= n; i++) {
			write_field(field[i], t, at + i - 1)
			add_slot(t, i)
		}
		at += n
		words_of[t] = word_fields - first_word[t]
	}
	print "};\nconst unsigned char native_slots[] = {"
	for (i = 0; i < slots; i++)
		printf "\t%d,\n", slot[i]
	first_slot[types] = slots
	slots_of[types] = 1
	print "\t0,\n};\nconst unsigned short native_word_fields[] = {"
	for (i = 1; i <= word_fields; i++)
		printf "\t%d,\n", word_field[i]
	print "};\nconst struct native_constraint native_constraints[] = {"
	for (t = c = 0; t < types; t++) {
		first_constraint[t] = c
		for (i = 1; i <= constraints[name_of[t]]; i++)
			printf "\t{%s},\n", constraint[name_of[t], i]
		c += constraints[name_of[t]]
	}
	print "};\nconst struct native_default native_defaults[] = {"
	name_of[types] = "@"
	for (t = at2 = 0; t <= types; t++) {
		first2[t] = at2
		for (i = 1; i <= rows[name_of[t]]; i++)
			printf "\t{\"%s\"},\n", row[name_of[t], i]
		at2 += rows[name_of[t]]
	}
	print "};\nconst struct native_type native_types[] = {"
	for (t = 0; t <= types; t++)
		printf "\t{\"%s\", %d, %d, %d, %d, %d, %d, %d, %d, " \
			"%d, %d, 0%s},\n", \
			name_of[t], first[t], split(fields[t], field, " "), \
			first2[t], rows[name_of[t]], first_slot[t], \
			slots_of[t] - 1, first_word[t], \
			words_of[t], first_constraint[t], \
			constraints[name_of[t]], tags[t]
	print "};\nconst struct native_kind native_kinds[] = {"
	for (i = 1; i <= kinds; i++) {
		split(kind[i], k, "\t")
		printf "\t{\"%s\", \"%s\", \"%s\", \"%s\", %s, %d},\n", \
			k[2] == "-" ? "" : k[2], k[3], k[4], k[5], \
			k[6] == "Cluster" ? "true" : "false", number[k[7]]
	}
	printf "\t{NULL, NULL, NULL, NULL, false, 0},\n};\n"
	print "const struct operator_kind operator_kinds[] = {"
	for (i = 1; i <= customs; i++) {
		split(custom[i], k, "\t")
		if (!(k[5] in number))
			fail("no type " k[5])
		printf "\t{\"%s\", \"%s\", \"%s\", %s, %d},\n", k[2], k[3], \
			k[4], k[6] == "loose" ? "true" : "false", \
			number[k[5]]
	}
	printf "\t{NULL, NULL, NULL, false, 0},\n};\n"
	printf "const unsigned native_every = %d;\n", types
	constant("template", "PodTemplateSpec")
	constant("pod_spec", "PodSpec")
	constant("container", "Container")
	constant("metadata", "ObjectMeta")
}
