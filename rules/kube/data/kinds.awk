# SPDX-License-Identifier: Apache-2.0
#
# Converts kinds.txt to C: constant tables of struct kind (rules/kube/kinds.h).
# Equal paths, counts and boxes are written once. kind_slots is a hash table of
# row numbers plus one, filled by the hash that kinds.c computes. POSIX awk.

function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

function upper(name)
{
	name = toupper(name)
	gsub(/-/, "_", name)
	return name
}

# Returns the C name of the path array; NULL for ".", the empty path.
function path(text,    n, i, part, out)
{
	if (text == "." || text == "")
		return "NULL"
	if (text in paths)
		return paths[text]
	out = text
	gsub(/\[\]/, ".[]", out)
	n = split(out, part, ".")
	out = ""
	for (i = 1; i <= n; i++)
		if (part[i] != "")
			out = out "\"" part[i] "\", "
	paths[text] = "path_" npaths++
	printf "static const char *const %s[] = {%sNULL};\n", paths[text], out
	return paths[text]
}

function join(prefix, text)
{
	if (prefix == "." || prefix == "")
		return text
	return text == "." || text == "" ? prefix : prefix "." text
}

function base_path(text)
{
	if (text ~ /^\//)
		return "BASE_ROOT, " path(substr(text, 2))
	if (text ~ /^@/)
		return "BASE_ELEMENT, " path(substr(text, 2))
	return "BASE_GROUP, " path(text)
}

# Returns the C name of a formula, a function of rules/kube: COUNT_FORMULA().
function formula(name)
{
	gsub(/-/, "_", name)
	name = "count_" name
	if (!(name in formulas)) {
		formulas[name] = 1
		printf "struct amount %s(const struct count_place *place, " \
			"const struct node *at, int64_t number);\n", name
	}
	return name
}

function factor(text,    name, at, number)
{
	if (text ~ /^[0-9]+$/)
		return "{" formula("const") ", BASE_ROOT, NULL, " text "}"
	if (text ~ /^[a-z-]+\(.*\)$/) {
		at = index(text, "(")
		name = substr(text, 1, at - 1)
		text = substr(text, at + 1, length(text) - at - 1)
		number = 0
		if ((at = index(text, ",")) > 0) {
			number = substr(text, at + 1)
			text = substr(text, 1, at - 1)
		}
		return "{" formula(name) ", " base_path(text) ", " number "}"
	}
	at = index(text, ":")
	if (at == 0)
		fail("no such count: " text)
	return "{" formula("int") ", " base_path(substr(text, 1, at - 1)) \
		", " substr(text, at + 1) "}"
}

function count(text,    n, i, part, out)
{
	if (text in counts)
		return counts[text]
	n = split(text, part, "*")
	out = ""
	for (i = 1; i <= n; i++)
		out = out "\n\t" factor(part[i]) ","
	counts[text] = "factors_" ncounts++
	printf "static const struct factor %s[] = {%s\n\t{0}};\n", \
		counts[text], out
	return counts[text]
}

function box(text,    at, what, name, place)
{
	name = "NULL"
	place = "NULL"
	if ((at = index(text, "@")) > 0) {
		place = path(substr(text, at + 1))
		text = substr(text, 1, at - 1)
	}
	if ((at = index(text, "=")) > 0) {
		name = "\"" substr(text, at + 1) "\""
		text = substr(text, 1, at - 1)
	}
	what = text
	text = "."
	if ((at = index(what, ":")) > 0) {
		text = substr(what, at + 1)
		what = substr(what, 1, at - 1)
	}
	return "{BOX_" upper(what) ", " path(text) ", " name ", " place "}"
}

function boxes(text,    n, i, part, out)
{
	if (text ~ /^\$/) {
		if (!(substr(text, 2) in defined))
			fail("not defined: " text)
		text = defined[substr(text, 2)]
	}
	if (text in boxlists)
		return boxlists[text]
	n = split(text, part, ",")
	out = ""
	for (i = 1; i <= n; i++)
		out = out "\n\t" box(part[i]) ","
	boxlists[text] = "boxes_" nboxlists++
	printf "static const struct box %s[] = {%s\n\t{0}};\n", \
		boxlists[text], out
	return boxlists[text]
}

# Parses [box.]TO[=[!|&][^|/]FROM[+KEY]],...
function field(text,    at, from, in_box, base, key, how)
{
	in_box = 0
	how = "VIEW_MERGES"
	base = "FIELD_OF_POD"
	key = "NULL"
	if (text ~ /^box[.=]/) {
		in_box = 1
		text = substr(text, text ~ /^box=/ ? 4 : 5)
	}
	from = text
	if ((at = index(text, "=")) > 0) {
		from = substr(text, at + 1)
		text = substr(text, 1, at - 1)
	}
	if (from ~ /^[!&]/) {
		how = from ~ /^!/ ? "VIEW_REPLACES" : "VIEW_APPENDS"
		from = substr(from, 2)
	}
	if (from ~ /^\^/)
		base = "FIELD_OF_GROUP"
	else if (from ~ /^\//)
		base = "FIELD_OF_OBJECT"
	sub(/^[\^\/]/, "", from)
	if ((at = index(from, "+")) > 0) {
		key = "\"" substr(from, at + 1) "\""
		from = substr(from, 1, at - 1)
	}
	return "{" path(text) ", " path(from) ", " key ", " in_box ", " \
		how ", " base "}"
}

function fields(text,    n, i, part, out)
{
	if (text ~ /^\$/) {
		n = match(text, /,|$/)
		out = substr(text, 2, n - 2)
		if (!(out in defined))
			fail("not defined: " out)
		text = defined[out] substr(text, n)
	}
	if (text in fieldlists)
		return fieldlists[text]
	n = split(text, part, ",")
	out = ""
	for (i = 1; i <= n; i++)
		out = out "\n\t" field(part[i]) ","
	fieldlists[text] = "fields_" nfieldlists++
	printf "static const struct field_row %s[] = {%s\n\t{0}};\n", \
		fieldlists[text], out
	return fieldlists[text]
}

# Parses [!][/|@]PATH,... of the attributes notes and labels.
function notes(text,    n, i, part, out, first)
{
	if (text in notelists)
		return notelists[text]
	n = split(text, part, ",")
	out = ""
	for (i = 1; i <= n; i++) {
		first = sub(/^!/, "", part[i])
		out = out "\n\t{" base_path(part[i]) ", " first "},"
	}
	notelists[text] = "notes_" nnotelists++
	printf "static const struct note_row %s[] = {%s\n\t{0}};\n", \
		notelists[text], out
	return notelists[text]
}

function injects(text,    n, i, part, out)
{
	out = "0"
	n = split(text, part, ",")
	for (i = 1; i <= n; i++)
		out = out " | INJECT_" upper(part[i])
	return out
}

# Parses POLICY[!][/FIELD]; the field is always restartPolicy.
function restart(text,    from)
{
	if (text == "operator")
		return "RESTART_FROM_OPERATOR, RESTART_ALWAYS"
	from = "RESTART_FROM_POD"
	if (text ~ /!$/)
		from = "RESTART_FORCED"
	else if (text ~ /\/restartPolicy$/)
		from = "RESTART_FROM_GROUP"
	sub(/!$/, "", text)
	sub(/\/.*/, "", text)
	if (text == "OnFailure")
		text = "On_Failure"
	return from ", RESTART_" upper(text)
}

function role(text)
{
	if (text == "key")
		return "ROLE_KEY, NULL"
	if (text ~ /^\./)
		return "ROLE_FIELD, \"" substr(text, 2) "\""
	return "ROLE_TEXT, \"" text "\""
}

# Reads attributes from the words from position `from` on into attr[].
function attributes(from,    i, at)
{
	split("", attr)
	for (i = from; i <= NF; i++) {
		at = index($i, "=")
		if (at > 0)
			attr[substr($i, 1, at - 1)] = substr($i, at + 1)
		else
			attr[$i] = 1
	}
}

function value(name, otherwise)
{
	return name in attr ? attr[name] : otherwise
}

# Writes one row and returns its C name.
function row(form, group, pod,    steady, peak, name, box_list, version)
{
	steady = value("count", "1")
	peak = value("peak", steady)
	if ("times" in attr) {
		steady = steady "*" attr["times"]
		peak = peak "*" attr["times"]
	}
	name = "row_" nrows++
	group = path(group)
	pod = path(pod)
	steady = count(steady)
	peak = count(peak)
	box_list = "boxes" in attr ? boxes(attr["boxes"]) : "NULL"
	version = "version" in attr ? "\"" attr["version"] "\"" : "NULL"
	attr["metadata_c"] = "metadata" in attr ? \
		(attr["metadata"] == "." ? "path_here" : \
		path(attr["metadata"])) : "NULL"
	attr["fields_c"] = "fields" in attr ? fields(attr["fields"]) : "NULL"
	attr["notes_c"] = "notes" in attr ? notes(attr["notes"]) : "NULL"
	attr["labels_c"] = "labels" in attr ? notes(attr["labels"]) : "NULL"
	attr["first_c"] = sub(/\?$/, "", attr["container"])
	attr["container_c"] = attr["container"] != "" ? \
		"\"" attr["container"] "\"" : "NULL"
	attr["defaults_c"] = path(value("defaults", "."))
	attr["inner_c"] = path(value("inner", "."))
	printf "static const struct pod_row %s = {\n", name
	printf "\t.group = %s,\n\t.pod = %s,\n\t.form = FORM_%s,\n", group, \
		pod, upper(form)
	printf "\t.role_from = %s\n", named(role(value("role", "")), "role")
	printf "\t.count = %s,\n\t.peak = %s,\n", steady, peak
	printf "\t.restart_from = %s\n", \
		named(restart(value("restart", "Always")), "restart")
	printf "\t.injects = %s,\n", injects(value("inject", ""))
	printf "\t.by = &operator_%s,\n", row_operator
	printf "\t.asks_injects = %d,\n\t.asks_gpus = %d,\n", \
		value("injects", 0), value("gpus", 0)
	printf "\t.boxes = %s,\n\t.metadata = %s,\n", box_list, \
		attr["metadata_c"]
	printf "\t.inner = %s,\n\t.defaults = %s,\n\t.version = %s,\n", \
		attr["inner_c"], attr["defaults_c"], version
	printf "\t.fields = %s,\n\t.container = %s,\n", attr["fields_c"], \
		attr["container_c"]
	printf "\t.notes = %s,\n\t.labels = %s,\n", attr["notes_c"], \
		attr["labels_c"]
	printf "\t.or_first = %d,\n\t.based = %d,\n\t.below = %d,\n", \
		attr["first_c"], value("based", 0), value("below", 0)
	printf "\t.no_image = %d,\n\t.some = %d,\n\t.counted = %d,\n};\n", \
		value("noimage", 0), value("some", 0), value("counted", 0)
	return name
}

# Converts "A, B" to "A,\n\t.FIELD = B,".
function named(pair, name,    at)
{
	at = index(pair, ", ")
	return substr(pair, 1, at) "\n\t." name " = " \
		substr(pair, at + 2) ","
}

# Adds a row to the current kind, or stores it for the current shape.
function add_row(form, group, pod)
{
	if (in_shape != "") {
		shape_n[in_shape]++
		shape_line[in_shape, shape_n[in_shape]] = $0
		shape_operator[in_shape] = operator
		return
	}
	kind_rows[nkinds] = kind_rows[nkinds] "&" row(form, group, pod) ", "
}

function use_shape(name, prefix,    i, extra)
{
	if (!(name in shape_n))
		fail("no shape " name)
	extra = ""
	for (i = 4; i <= NF; i++)
		extra = extra " " $i
	row_operator = shape_operator[name]
	for (i = 1; i <= shape_n[name]; i++) {
		$0 = shape_line[name, i] extra
		attributes(4)
		add_row($1, join(prefix, $2), $3)
	}
	row_operator = operator
}

# Converts PATH:RETRIES,DEADLINE,TTL to C; "-" is a field that the kind lacks.
function runs(text,    at, n, i, part, out)
{
	if (text == "")
		return "{0}"
	at = index(text, ":")
	out = "\"" substr(text, 1, at - 1) "\", {"
	text = substr(text, at + 1)
	if (text ~ /^\$/)
		text = defined[substr(text, 2)]
	n = split(text, part, ",")
	if (n != 3)
		fail("three fields: " text)
	for (i = 1; i <= n; i++)
		out = out (part[i] == "-" ? "NULL" : "\"" part[i] "\"") ", "
	return "{" out "}}"
}

# Notes the operator of the following kinds, and declares its constant.
function use_operator(name)
{
	if (!(name in operators)) {
		operators[name] = 1
		printf "extern const struct workload_operator operator_%s;\n", name
	}
	operator = name
	row_operator = name
}

function add_kind(    i, n, word, flags)
{
	nkinds++
	kind_group[nkinds] = $2 == "-" ? "" : $2
	kind_name[nkinds] = $3
	if ((kind_group[nkinds], $3) in kind_number)
		fail("twice: " $2 " " $3)
	kind_number[kind_group[nkinds], $3] = nkinds
	attributes(5)
	flags = "selector" in attr ? "KIND_NATIVE" : "0"
	n = split(KIND_WORDS, word, " ")
	for (i = 1; i <= n; i++)
		if (word[i] in attr)
			flags = flags " | KIND_" toupper(word[i])
	kind_head[nkinds] = "KIND_" upper($4) ", " flags ", &operator_" \
		operator ", " path(value("suspend", ".")) ", " \
		path(value("priority", ".")) ", " \
		path(value("scheduler", ".")) ", " runs(value("runs", "")) \
		", " ("main" in attr ? "\"" attr["main"] "\"" : "NULL")
	in_shape = ""
}

function add_embed(yaml)
{
	attributes(3)
	kind_embeds[nkinds] = kind_embeds[nkinds] "{" path($2) ", " yaml \
		", " count(value("copies", "1")) "}, "
}

function like(group, kind,    n)
{
	if (group == "-")
		group = ""
	if (!((group, kind) in kind_number))
		fail("no kind " group " " kind)
	n = kind_number[group, kind]
	kind_rows[nkinds] = kind_rows[n]
	kind_embeds[nkinds] = kind_embeds[n]
}

# Knows only characters that occur in names of kinds and groups; the hash is
# that of kind_find().
function hash(text, slots,    i, h)
{
	h = 0
	for (i = 1; i <= length(text); i++)
		h = (h * 31 + ord[substr(text, i, 1)]) % slots
	return h
}

function write_slots(    slots, i, at, slot)
{
	slots = 1021
	for (i = 1; i <= nkinds; i++) {
		at = hash(kind_name[i] "/" kind_group[i], slots)
		while (at in slot)
			at = (at + 1) % slots
		slot[at] = i
	}
	printf "const unsigned kind_nslots = %d;\n", slots
	printf "const unsigned short kind_slots[%d] = {", slots
	for (i = 0; i < slots; i++)
		printf "%s%d,", i % 16 ? " " : "\n\t", i in slot ? slot[i] : 0
	printf "\n};\n"
}

BEGIN {
	KIND_WORDS = "cluster selector native one opaque scheduled ends " \
		"serves values whole queued ranks headless numbers argv plain " \
		"part"
	for (i = 1; i < 128; i++)
		ord[sprintf("%c", i)] = i
	printf "#include \"rules/kube/operator.h\"\n\n"
	printf "static const char *const path_here[] = {NULL};\n"
	use_operator("none")
}

/^[ \t]*(#|$)/ { next }
$1 == "define" { defined[$2] = $3; next }
$1 == "operator" { use_operator($2); next }
$1 == "shape" { in_shape = $2; shape_n[$2] = 0; next }
$1 == "kind" { add_kind(); next }
$1 == "like" { like($2, $3); next }
$1 == "embed" { add_embed(0); next }
$1 == "yaml" { add_embed(1); next }
$1 == "use" { use_shape($2, $3); next }
$1 == "pod" || $1 == "spec" || $1 == "flat" || $1 == "patch" {
	attributes(4)
	add_row($1, $2, $3)
	next
}
{ fail("what is " $1 "?") }

END {
	if (failed)
		exit 1
	for (i = 1; i <= nkinds; i++) {
		if (kind_rows[i] != "")
			printf "static const struct pod_row *const rows_%d[] = " \
				"{%sNULL};\n", i, kind_rows[i]
		if (kind_embeds[i] != "")
			printf "static const struct embed_row embeds_%d[] = " \
				"{%s{0}};\n", i, kind_embeds[i]
	}
	printf "const struct kind kind_table[] = {\n"
	for (i = 1; i <= nkinds; i++)
		printf "\t{\"%s\", \"%s\", %s, %s, %s},\n", kind_group[i], \
			kind_name[i], kind_head[i], \
			kind_rows[i] != "" ? "rows_" i : "NULL", \
			kind_embeds[i] != "" ? "embeds_" i : "NULL"
	printf "\t{0},\n};\n"
	write_slots()
}
