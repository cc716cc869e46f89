/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of the author's bytes, style by style. Every result is read again and
 * must be the edited tree, also if the table does not give it; random files are
 * in tests/check/splice.sh. Edits are written in YAML (edit_json.h).
 */
#include "splicing.h"

#define SET_GPU "[{set: [limits, nvidia.com/gpu], value: 1}]"

static void block_maps_are_spliced(void **state)
{
	static const struct splice_case cases[] = {
		{"a: 1\n", "[{set: [b], value: 2}]", "a: 1\nb: 2\n", NULL},
		{"a: 1\n", "[{set: [a], value: 1}]", NULL, NULL},
		{"a: 1", "[{set: [b], value: 2}]", "a: 1\nb: 2", NULL},
		{"a: 1\r\nc: 3\r\n", "[{set: [b], value: {x: 2}}]",
		 "a: 1\r\nc: 3\r\nb:\r\n  x: 2\r\n", NULL},
		{"a: 1 # why\n# end\n", "[{set: [b], value: 2}]",
		 "a: 1 # why\nb: 2\n# end\n", NULL},
		{"limits:\n    a: 1\nz: 1\n", SET_GPU,
		 "limits:\n    a: 1\n    nvidia.com/gpu: 1\nz: 1\n", NULL},
		/* indentation from the neighbors */
		{"m:\n    x:\n        y: 1\n", "[{set: [m, k, o], value: 2}]",
		 "m:\n    x:\n        y: 1\n    k:\n        o: 2\n", NULL},
		{"l:\n- a: 1\n", "[{set: [k], value: [1, {b: 2}]}]",
		 "l:\n- a: 1\nk:\n- 1\n- b: 2\n", NULL},
		{"l:\n    -   a: 1\n", "[{set: [k], value: [{b: 2, c: 3}]}]",
		 "l:\n    -   a: 1\nk:\n    - b: 2\n      c: 3\n", NULL},
		/* several texts at one place: the inner ones first */
		{"a:\n  b:\n    c: 1\n",
		 "[{set: [x], value: 1}, {set: [a, w], value: 2}, "
		 "{set: [a, b, z], value: 3}]",
		 "a:\n  b:\n    c: 1\n    z: 3\n  w: 2\nx: 1\n", NULL},
		/* after a block scalar, before the empty lines */
		{"a: |\n  text\n\nb: 1\nc: |\n  end\n\n",
		 "[{set: [d], value: 2}]",
		 "a: |\n  text\n\nb: 1\nc: |\n  end\nd: 2\n\n", NULL},
		{"a: |+\n  text\n\n", "[{set: [d], value: 2}]", NULL, "|+"},
		/* a document among others */
		{"# head\n---\na: 1\n---\nb: 1\n", "[{set: [c], value: 2}]",
		 "# head\n---\na: 1\nc: 2\n---\nb: 1\n", NULL},
		/* a multi-byte letter before the edit */
		{"\"é\": 日本 # ü\nm: {}\n", "[{set: [m, k], value: 1}]",
		 "\"é\": 日本 # ü\nm:\n  k: 1\n", NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void comments_stay_with_the_entry_above(void **state)
{
	static const struct splice_case cases[] = {
		{"a:\n  x: 1\n  # y: 2\n", "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n  # y: 2\nb: 3\n", NULL},
		{"a:\n  x: 1\n  # y: 2", "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n  # y: 2\nb: 3", NULL},
		{"a:\r\n  x: 1\r\n  # y: 2\r\n\r\n", "[{set: [b], value: 3}]",
		 "a:\r\n  x: 1\r\n  # y: 2\r\nb: 3\r\n\r\n", NULL},
		{"a:\n  x: 1\n  # y\n# z\n  # w\n", "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n  # y\nb: 3\n# z\n  # w\n", NULL},
		/* only empty lines in between */
		{"a:\n  x: 1\n\n  # y\n \n\n  # z\n\n# w\n",
		 "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n\n  # y\n \n\n  # z\nb: 3\n\n# w\n", NULL},
		{"a:\n  x: 1\n\n# w\n", "[{set: [b], value: 3}]",
		 "a:\n  x: 1\nb: 3\n\n# w\n", NULL},
		/* not after the end of the document */
		{"a:\n  x: 1\n  # y\n---\n  # z\nb: 1\n",
		 "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n  # y\nb: 3\n---\n  # z\nb: 1\n", NULL},
		{"a:\n  x: 1\n  # y\n...\n", "[{set: [b], value: 3}]",
		 "a:\n  x: 1\n  # y\nb: 3\n...\n", NULL},
		/* every level below comments with a larger indentation */
		{"a:\n  b:\n    c: 1\n    # d\n  # e\n# f\n",
		 "[{set: [x], value: 1}, {set: [a, w], value: 2}, "
		 "{set: [a, b, z], value: 3}]",
		 "a:\n  b:\n    c: 1\n    z: 3\n    # d\n  w: 2\n  # e\n"
		 "x: 1\n# f\n",
		 NULL},
		/* comments of a removed entry stay with the entry before */
		{"a:\n  x: 1\n  # y\nb: 2\nc:\n  z: 1\n  # w\n",
		 "[{set: [d], value: 3}, {remove: [b]}, {remove: [c]}]",
		 "a:\n  x: 1\n  # y\n  # w\nd: 3\n", NULL},
		{"m:\n  a:\n    x: 1\n    # y\n  b: 2\nc: 3\n",
		 "[{set: [m, d], value: 3}, {set: [m, a, z], value: 1}, "
		 "{remove: [m, b]}, {remove: [c]}]",
		 "m:\n  a:\n    x: 1\n    z: 1\n    # y\n  d: 3\n", NULL},
		/* comments indented less than a block scalar, and equally */
		{"a:\n  b: |\n     t\n     # t\n   # y\n",
		 "[{set: [c], value: 3}, {set: [a, d], value: 1}]",
		 "a:\n  b: |\n     t\n     # t\n   # y\n  d: 1\nc: 3\n", NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void commented_items_stay_in_their_list(void **state)
{
	static const struct splice_case cases[] = {
		{"l:\n- a: 1\n# - a: 2\n#   b: 2\n# why\n",
		 "[{set: [k], value: 3}]",
		 "l:\n- a: 1\n# - a: 2\n#   b: 2\nk: 3\n# why\n", NULL},
		{"l:\n- a: 1\n#- a: 2\n#  b: 2\n## - a\n# why\n",
		 "[{set: [k], value: 3}]",
		 "l:\n- a: 1\n#- a: 2\n#  b: 2\n## - a\nk: 3\n# why\n", NULL},
		/* a `#` may replace indentation: the dash is still in the
		 * column of the list */
		{"l:\n  - a: 1\n# - a: 2\n#   b: 2\n", "[{set: [k], value: 3}]",
		 "l:\n  - a: 1\n# - a: 2\n#   b: 2\nk: 3\n", NULL},
		{"l:\n    - a: 1\n# - a: 2\n", "[{set: [k], value: 3}]",
		 "l:\n    - a: 1\nk: 3\n# - a: 2\n", NULL},
		/* after another kind of entry it is just text */
		{"l:\n- a: 1\nm: 1\n# - a: 2\n", "[{set: [k], value: 3}]",
		 "l:\n- a: 1\nm: 1\nk: 3\n# - a: 2\n", NULL},
		{"l:\n- a: 1\n# so:\n# - a: 2\n", "[{set: [k], value: 3}]",
		 "l:\n- a: 1\nk: 3\n# so:\n# - a: 2\n", NULL},
		{"l:\n- a: 1\n# -\n#\n", "[{set: [k], value: 3}]",
		 "l:\n- a: 1\nk: 3\n# -\n#\n", NULL},
		/* items are inserted before commented ones, after their own
		 * comments */
		{"l:\n- a: 1\n  # b: 1\n# - a: 2\n",
		 "[{ensure: [l], item: {name: x}}, {set: [k], value: 3}]",
		 "l:\n- a: 1\n  # b: 1\n- name: x\n# - a: 2\nk: 3\n", NULL},
		{"l:\n  - a: 1\n    # b: 1\n  # - a: 2\n",
		 "[{set: [l, 0, c], value: 1}, {ensure: [l], item: {name: x}}, "
		 "{set: [k], value: 3}]",
		 "l:\n  - a: 1\n    c: 1\n    # b: 1\n  - name: x\n"
		 "  # - a: 2\nk: 3\n",
		 NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void empty_parents_are_filled(void **state)
{
	static const struct splice_case cases[] = {
		{"limits:\n", SET_GPU, "limits:\n  nvidia.com/gpu: 1\n", NULL},
		{"limits:", SET_GPU, "limits:\n  nvidia.com/gpu: 1", NULL},
		{"limits: # none\n", SET_GPU,
		 "limits: # none\n  nvidia.com/gpu: 1\n", NULL},
		{"limits: {}\n", SET_GPU, "limits:\n  nvidia.com/gpu: 1\n",
		 NULL},
		{"limits: {} # none\nz: 1\n", SET_GPU,
		 "limits: # none\n  nvidia.com/gpu: 1\nz: 1\n", NULL},
		{"limits: null\n", SET_GPU, "limits:\n  nvidia.com/gpu: 1\n",
		 NULL},
		{"limits:  ~  # x\n", SET_GPU,
		 "limits:  # x\n  nvidia.com/gpu: 1\n", NULL},
		{"limits:\n  {}\n", SET_GPU, "limits:\n  {nvidia.com/gpu: 1}\n",
		 NULL},
		{"limits:\n  ~\n", SET_GPU, "limits:\n  {nvidia.com/gpu: 1}\n",
		 NULL},
		{"l:\nz: 1\n", "[{ensure: [l], item: {name: a, b: 1}}]",
		 "l:\n  - name: a\n    b: 1\nz: 1\n", NULL},
		{"l: []\nk:\n- 1\n", "[{ensure: [l], item: {name: a}}]",
		 "l:\n- name: a\nk:\n- 1\n", NULL},
		{"c:\n- limits:\n  x: 1\n",
		 "[{set: [c, 0, limits, gpu], value: 1}]",
		 "c:\n- limits:\n    gpu: 1\n  x: 1\n", NULL},
		{"c:\n- {}\n", "[{set: [c, 0, a], value: 1}]", "c:\n- {a: 1}\n",
		 NULL},
		{"c:\n-\n", "[{set: [c, 0], value: 1}]", "c:\n- 1\n", NULL},
		{"{limits: {}}\n", SET_GPU, "{limits: {nvidia.com/gpu: 1}}\n",
		 NULL},
		{"{limits: }\n", SET_GPU, "{limits: {nvidia.com/gpu: 1} }\n",
		 NULL},
		{"limits: !!null\n", SET_GPU, NULL, "tag"},
		{"limits: &x\n", SET_GPU, NULL, "anchor"},
		{"limits: {\n  # none\n}\n", SET_GPU, NULL, "comment"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void lists_are_spliced(void **state)
{
	static const struct splice_case cases[] = {
		{"l:\n- name: a\nz: 1\n", "[{ensure: [l], item: {name: b}}]",
		 "l:\n- name: a\n- name: b\nz: 1\n", NULL},
		{"l:\n  -   name: a\n      x: 1 # c\n",
		 "[{ensure: [l], item: {name: b, x: {z: 2}}}]",
		 "l:\n  -   name: a\n      x: 1 # c\n"
		 "  -   name: b\n      x:\n        z: 2\n",
		 NULL},
		{"l:\n- a\n- b\n",
		 "[{ensure: [l], item: c}, "
		 "{ensure: [l], item: d}]",
		 "l:\n- a\n- b\n- c\n- d\n", NULL},
		{"- name: a\n",
		 "[{set: [{name: a}, x], value: 1}, "
		 "{ensure: [], item: {name: b}, keys: name}]",
		 "- name: a\n  x: 1\n- name: b\n", NULL},
		{"- name: a\n# end\n", "[{set: [0, x], value: [1]}]",
		 "- name: a\n  x:\n    - 1\n# end\n", NULL},
		{"items:\n- a:\n    b: {}\n",
		 "[{set: [items, 0, a, b, c], "
		 "value: 1}]",
		 "items:\n- a:\n    b:\n      c: 1\n", NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void flow_style_stays_flow_style(void **state)
{
	static const struct splice_case cases[] = {
		{"limits: {a: 1}\n", SET_GPU,
		 "limits: {a: 1, nvidia.com/gpu: 1}\n", NULL},
		{"limits: { a: 1 } # c\n", SET_GPU,
		 "limits: { a: 1, nvidia.com/gpu: 1 } # c\n", NULL},
		{"limits: {a: 1,}\n", SET_GPU,
		 "limits: {a: 1, nvidia.com/gpu: 1,}\n", NULL},
		{"limits: {\n  a: 1, # one\n  b: 2 # two\n}\n", SET_GPU,
		 "limits: {\n  a: 1, # one\n  b: 2,\n  nvidia.com/gpu: 1 # two\n"
		 "}\n",
		 NULL},
		{"limits: {\"a\": 1}\n", SET_GPU,
		 "limits: {\"a\": 1, \"nvidia.com/gpu\": 1}\n", NULL},
		{"l: [a, b]\n", "[{ensure: [l], item: \"c, d\"}]",
		 "l: [a, b, \"c, d\"]\n", NULL},
		{"l: [{name: a}]\n",
		 "[{ensure: [l], item: {name: b, c: [1, {}]}}]",
		 "l: [{name: a}, {name: b, c: [1, {}]}]\n", NULL},
		{"l: [a, b, c]\n", "[{remove: [l, 1]}]", "l: [a, c]\n", NULL},
		{"l: [a, b, c]\n", "[{remove: [l, 0]}]", "l: [b, c]\n", NULL},
		{"l: [a, b, c]\n", "[{remove: [l, 2]}, {remove: [l, 1]}]",
		 "l: [a]\n", NULL},
		{"l: [a]\n", "[{remove: [l, 0]}]", "{}\n", NULL},
		{"l: [a,]\n", "[{remove: [l, 0]}]", "{}\n", NULL},
		{"l: [a]\n", "[{remove: [l, 0]}, {ensure: [l], item: b}]",
		 "l: [b]\n", NULL},
		{"m: {a: 1, b: {c: 2}}\n",
		 "[{remove: [m, a]}, {set: [m, b, c], value: 3}, "
		 "{set: [m, d], value: 4}]",
		 "m: {b: {c: 3}, d: 4}\n", NULL},
		{"m: {a: 1, # why\n  b: 2}\n", "[{remove: [m, a]}]", NULL,
		 "unusual"},
		{"m: [a: 1]\n", "[{set: [m, 0, b], value: 1}]", NULL,
		 "no brackets"},
		{"m: [!!str a, b]\n", "[{remove: [m, 0]}]", NULL, "tag"},
		{"m: {a: 1, b}\n", "[{set: [m, c], value: 1}]", NULL,
		 "unusual"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void json_stays_json(void **state)
{
	static const struct splice_case cases[] = {
		{"{\"a\":1}", "[{set: [b], value: {c: [x]}}]",
		 "{\"a\":1,\"b\":{\"c\":[\"x\"]}}", NULL},
		{"{\"a\": 1}\n", "[{set: [b], value: {c: 2}}]",
		 "{\"a\": 1, \"b\": {\"c\": 2}}\n", NULL},
		{"{}", "[{set: [b], value: x}]", "{\"b\": \"x\"}", NULL},
		{"{\n  \"a\": {\n    \"b\": []\n  }\n}\n",
		 "[{set: [a, c], value: {d: 1}}, {ensure: [a, b], item: w}, "
		 "{set: [e], value: true}]",
		 "{\n  \"a\": {\n    \"b\": [\n      \"w\"\n    ],\n"
		 "    \"c\": {\n      \"d\": 1\n    }\n  },\n  \"e\": true\n}\n",
		 NULL},
		{"{\r\n\t\"a\": null\r\n}\r\n", "[{set: [a, b], value: 1}]",
		 "{\r\n\t\"a\": {\r\n\t\t\"b\": 1\r\n\t}\r\n}\r\n", NULL},
		{"{\n  \"a\": 1,\n  \"b\": 2\n}", "[{remove: [b]}]",
		 "{\n  \"a\": 1\n}", NULL},
		{"{\n  \"a\": 1,\n  \"b\": 2\n}", "[{remove: [a]}]",
		 "{\n  \"b\": 2\n}", NULL},
		{"{\n  \"a\": 1\n}", "[{remove: [a]}]", "{}", NULL},
		{"{\"a\": \"q\\\"\"}", "[{set: [a], value: \"x\\\"\\\\\\n\"}]",
		 "{\"a\": \"x\\\"\\\\\\n\"}", NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void removal_leaves_no_gap(void **state)
{
	static const struct splice_case cases[] = {
		{"a: 1\nb: 2 # gone\nc: 3\n", "[{remove: [b]}]", "a: 1\nc: 3\n",
		 NULL},
		{"a: 1\nb: 2\n", "[{remove: [a]}]", "b: 2\n", NULL},
		{"a: 1\nb: 2", "[{remove: [b]}]", "a: 1", NULL},
		{"a: 1\r\nb:\r\n- 1\r\nc: 3\r\n", "[{remove: [b]}]",
		 "a: 1\r\nc: 3\r\n", NULL},
		{"a: 1\n# kept\nb: 2\n# too\n", "[{remove: [b]}]",
		 "a: 1\n# kept\n# too\n", NULL},
		{"m:\n  a: 1\nz: 1\n", "[{remove: [m, a]}]", "m: {}\nz: 1\n",
		 NULL},
		{"m: # why\n  a: 1\n  b: 2\n",
		 "[{remove: [m, a]}, {remove: [m, b]}]", "m: {} # why\n", NULL},
		{"env:\n- name: a\n  value: x\n- name: b\n  value: y\n",
		 "[{remove: [env, {name: a}]}]",
		 "env:\n- name: b\n  value: y\n", NULL},
		{"env:\n  - name: a\n    value: |\n      x\n      y\nz: 1\n",
		 "[{remove: [env, {name: a}]}]", "z: 1\n", NULL},
		{"env:\n- name: a\n- name: b\n",
		 "[{remove: [env, {name: b}]}, {ensure: [env], item: "
		 "{name: c}}]",
		 "env:\n- name: a\n- name: c\n", NULL},
		{"env:\n- name: a\n  v: 1\n",
		 "[{remove: [env, {name: a}]}, {ensure: [env], item: "
		 "{name: c, v: 2}}]",
		 "env:\n- name: c\n  v: 2\n", NULL},
		/* on the line of the dash */
		{"l:\n- a: 1\n  b: 2\n", "[{remove: [l, 0, a]}]",
		 "l:\n- b: 2\n", NULL},
		{"l:\n- a: 1\n  b: 2\n  c: 3\n",
		 "[{remove: [l, 0, a]}, {remove: [l, 0, b]}]", "l:\n- c: 3\n",
		 NULL},
		{"l:\n- a: 1\n", "[{remove: [l, 0, a]}]", "l:\n- {}\n", NULL},
		{"l:\n- a: 1\n  # own\n  b: 2\n", "[{remove: [l, 0, a]}]", NULL,
		 "comment"},
		{"a: |+\n  x\n\nb: 1\n\n", "[{remove: [b]}]", NULL,
		 "block scalar"},
		{"a: |\n  x\nb: 1\n  # deep\n", "[{remove: [b]}]", NULL,
		 "block scalar"},
		{"a: |\n  x\nb: 1\n\nc: 1\n", "[{remove: [b]}]",
		 "a: |\n  x\n\nc: 1\n", NULL},
		{"e:\n- t: |\n    x\n  b: 1\nv: 1\n      # deep\n",
		 "[{remove: [e, 0, b]}, {remove: [v], and: true}]", NULL,
		 "block scalar"},
		{"a: 1\na: 2\nb: 1\n", "[{remove: [a]}]", NULL, "duplicate"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void replacing_keeps_comments(void **state)
{
	static const struct splice_case cases[] = {
		{"a: 1 # c\n", "[{set: [a], value: 2}]", "a: 2 # c\n", NULL},
		{"a: 'x'\n", "[{set: [a], value: y1}]", "a: y1\n", NULL},
		{"a:\n  long\n  text\nb: 1\n", "[{set: [a], value: short}]",
		 "a:\n  short\nb: 1\n", NULL},
		{"a:\n- 1\n- 2\nb: 1\n", "[{set: [a], value: [3]}]",
		 "a:\n- 3\nb: 1\n", NULL},
		{"a:\n  b: 1\nc: 1\n", "[{set: [a], value: none}]",
		 "a: none\nc: 1\n", NULL},
		{"a: x\n", "[{set: [a], value: {b: 1}}]", "a:\n  b: 1\n", NULL},
		{"a: [1, 2]\n", "[{set: [a], value: []}]", "a: []\n", NULL},
		{"a: |\n  x\n", "[{set: [a], value: y1}]", NULL,
		 "block scalar"},
		{"a:\n- 1 # one\n- 2\n", "[{set: [a], value: [3]}]", NULL,
		 "comment"},
		{"a: !!str 5\n", "[{set: [a], value: 6}]", NULL, "tag"},
		{"? a\n: 1\n", "[{set: [a], value: 6}]", NULL, "unusual"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

/* Texts are quoted only if kubectl would otherwise read another value. */
static const char *const plain_texts[] = {
	"x",	"16Gi",	 "/dev/shm", "nvidia.com/gpu",
	"a b",	"a#b",	 "-c",	     "a:b",
	"x=y",	"5m",	 "1.2.3",    "é",
	"日本", "a'b",	 "a\"b",     "x,y",
	"x]x",	"No.",	 "yess",     "$(VAR)",
	"a\\b", "-flag",
};

static const char *const quoted_texts[] = {
	"",
	" x",
	"x ",
	"no",
	"Yes",
	"on",
	"y",
	"N",
	"true",
	"null",
	"~",
	"1",
	"-1",
	"1.5",
	"1e3",
	"0x10",
	"0b1",
	"012",
	"1_000",
	"12:30",
	"2001-01-01",
	".5",
	".inf",
	"a: b",
	"x:",
	"a #b",
	"#x",
	"&x",
	"*x",
	"!x",
	"|x",
	">x",
	"@x",
	"`x",
	"%x",
	"'x",
	"\"x",
	"[x",
	"{x",
	"]x",
	"}x",
	",x",
	"?x",
	":x",
	"=",
	"<<",
	"- x",
	"-",
	"--",
	"---",
	"...",
	"a\nb",
	"a\tb",
	"\x01",
	"\x7f",
	"\xc2\x85",
	"\xe2\x80\xa8",
	"\xef\xbb\xbf",
};

static void text_is_quoted_where_it_must_be(void **state)
{
	(void)state;
	for (size_t i = 0;
	     i < ARRAY_SIZE(plain_texts) + ARRAY_SIZE(quoted_texts); i++) {
		bool want = i >= ARRAY_SIZE(plain_texts);
		const char *text =
			want ? quoted_texts[i - ARRAY_SIZE(plain_texts)]
			     : plain_texts[i];
		struct splice_list splices = {0};
		struct edit_path path;
		struct edit_list list;
		struct reading old;
		struct doc doc;
		struct buf out;

		open_text(&old, "k: 1\nf: {a: 1}\n", 15);
		assert_int_equal(loader_next(&old.loader, &doc), 1);
		edit_list_init(&list, &old.arena);
		edit_path_to(&path, &old.arena, NULL);
		edit_path_key(&path, "k");
		edit_set(&list, &path, edit_string(&old.arena, text));
		edit_path_to(&path, &old.arena, node_get(doc.root, "f"));
		edit_path_key(&path, text);
		edit_set(&list, &path, edit_string(&old.arena, text));
		edits_splice(&list, &doc, &old.arena, &splices);
		buf_init(&out);
		splices_apply(old.source.text, old.source.len, &splices, &out);
		if ((out.data[3] == '"') != want)
			fail_msg("quotes: %s", out.data);
		check_reading(&old, &out, &list, &doc);
		buf_release(&out);
		reading_release(&old);
	}
}

static void edits_that_cannot_be_spliced_are_rejected(void **state)
{
	static const struct splice_case cases[] = {
		{"a: &x {b: 1}\nc: *x\n", "[{set: [c, d], value: 1}]", NULL,
		 "alias"},
		{"a: &x {b: 1}\nc: *x\n", "[{set: [a, d], value: 1}]", NULL,
		 "anchor"},
		{"a: &x\n  b: {c: 1}\nd: *x\n", "[{set: [a, b, c], value: 2}]",
		 NULL, "anchor"},
		{"a: &x {b: 1}\nc:\n  <<: *x\n", "[{set: [c, b], value: 2}]",
		 NULL, "merge"},
		{"a: &x {b: {e: 1}}\nc:\n  <<: *x\n",
		 "[{set: [c, b, e], value: 2}]", NULL, "merge"},
		{"a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", "[{remove: [c, d]}]",
		 NULL, "merge"},
		{"a:\n  b: &x 1\nc: *x\n", "[{remove: [a]}]", NULL, "anchor"},
		{"a: {b: &x 1}\nc: *x\n", "[{set: [a, b], value: 2}]", NULL,
		 "anchor"},
		/* next to an alias or a merge key the edit is made */
		{"a: &x {b: 1}\nc:\n  <<: *x\n", "[{set: [c, d], value: 2}]",
		 "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", NULL},
		{"a: &x {b: 1}\nc: *x\n", "[{set: [d], value: 2}]",
		 "a: &x {b: 1}\nc: *x\nd: 2\n", NULL},
		/* the other groups are applied */
		{"a: &x {b: 1}\nc: *x\n",
		 "[{set: [c, d], value: 1}, {set: [e], value: 1, and: true}, "
		 "{set: [f], value: 1}]",
		 "a: &x {b: 1}\nc: *x\nf: 1\n", "alias"},
		{"a: ${X}\n", "[{set: [a], value: 1}]", NULL, "filled in"},
		{"a: 1\n", "[{set: [], value: {b: 1}}]", NULL,
		 "whole document"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

static void only_the_document_meant_changes(void **state)
{
	static const struct splice_case second = {
		"a: 1\n---\na: 1 # é\n---\na: 1\n", "[{set: [b], value: 2}]",
		"a: 1\n---\na: 1 # é\nb: 2\n---\na: 1\n", NULL};
	static const struct splice_case last = {
		"---\na: 1\n---\na:\n", "[{set: [a, b], value: 2}]",
		"---\na: 1\n---\na:\n  b: 2\n", NULL};
	static const struct splice_case json = {
		"{\"a\": 1}\n{\"a\": {}}\n", "[{set: [a, b], value: 2}]",
		"{\"a\": 1}\n{\"a\": {\"b\": 2}}\n", NULL};

	(void)state;
	run_in(&second, 2);
	run_in(&last, 2);
	run_in(&json, 2);
}

/* Runs edits on a document whose bytes are not those of the file. */
static void run_other(const char *text, size_t len, bool hosted)
{
	struct splice_list splices = {0};
	struct reading old, edits;
	struct edit_list list;
	struct doc doc, host;

	open_text(&old, text, len);
	assert_int_equal(loader_next(&old.loader, &doc), 1);
	host = doc;
	doc.host = hosted ? &host : NULL;
	edit_list_init(&list, &old.arena);
	edits_from_json(&list, read_edits(&edits, "[{set: [b], value: 2}, "
						  "{set: [a], value: 1}]"));
	edits_splice(&list, &doc, &old.arena, &splices);
	assert_int_equal(splices.n, 0);
	assert_int_equal(list.groups[0].outcome, EDIT_REFUSED);
	assert_int_equal(list.groups[1].outcome, EDIT_NEEDLESS);
	reading_release(&edits);
	reading_release(&old);
}

static void other_encodings_are_refused(void **state)
{
	static const char utf16[] = "\xff\xfe"
				    "a\0:\0 \0001\0\n\0";

	(void)state;
	run_other(utf16, sizeof(utf16) - 1, false);
	run_other("a: 1\n", 5, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_maps_are_spliced),
		cmocka_unit_test(comments_stay_with_the_entry_above),
		cmocka_unit_test(commented_items_stay_in_their_list),
		cmocka_unit_test(empty_parents_are_filled),
		cmocka_unit_test(lists_are_spliced),
		cmocka_unit_test(flow_style_stays_flow_style),
		cmocka_unit_test(json_stays_json),
		cmocka_unit_test(removal_leaves_no_gap),
		cmocka_unit_test(replacing_keeps_comments),
		cmocka_unit_test(text_is_quoted_where_it_must_be),
		cmocka_unit_test(edits_that_cannot_be_spliced_are_rejected),
		cmocka_unit_test(only_the_document_meant_changes),
		cmocka_unit_test(other_encodings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
