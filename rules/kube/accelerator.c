/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up accelerator names in the tables made from data/ *.tsv. Exact names
 * are found by a hash table; the few names that end in '*' are prefixes, which
 * are compared afterwards.
 */
#include "kube/accelerator.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "data.h"
#include "doc/node.h"

/* Matches the whole name, or the part before a '*' at the pattern's end. */
static bool row_matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++, name++) {
		if (*pattern == '*' && !pattern[1])
			return true;
		if (*pattern != *name)
			return false;
	}
	return !*name;
}

struct data_rows {
	/* sorted by name, which is the first member of a row */
	const void *rows;
	size_t size;
	bool (*matches)(const char *pattern, const char *name);
	const struct data_slot *slots;	/* a hash table */
	const unsigned short *prefixes; /* indexes of rows that end in '*' */
};

#define TABLE(name, matches)                                                   \
	((struct data_rows){name, sizeof(*(name)), matches, name##_slots,      \
			    name##_prefixes})

static const char *name_of(const struct data_rows *table, size_t row)
{
	return *(const char *const *)(const void *)((const char *)table->rows +
						    row * table->size);
}

/* Returns the index of the row with exactly this name, or -1. */
static long by_hash(const struct data_rows *table, const char *name)
{
	uint16_t tag = node_tag(name, strlen(name));
	size_t at = tag % DATA_SLOTS;

	for (; table->slots[at].row; at = (at + 1) % DATA_SLOTS)
		if (table->slots[at].tag == tag &&
		    !strcmp(name_of(table, table->slots[at].row - 1u), name))
			return table->slots[at].row - 1;
	return -1;
}

/* Returns the index of the row with the longest prefix of the name, or -1. The
 * prefixes are sorted backwards. */
static long by_prefix(const struct data_rows *table, const char *name)
{
	const unsigned short *row = table->prefixes;

	for (; *row; row++) {
		const char *pattern = name_of(table, *row - 1u);

		if (*pattern < *name)
			break;
		if (*pattern == *name &&
		    (pattern[1] == name[1] || pattern[1] == '*') &&
		    table->matches(pattern, name))
			return *row - 1;
	}
	return -1;
}

/* Returns the index of the row with this name, else of that with the longest
 * prefix of it, else -1. */
static long find_row(struct data_rows table, const char *name)
{
	long exact = by_hash(&table, name);

	return exact >= 0 ? exact : by_prefix(&table, name);
}

static const struct accelerator *known(const char *resource)
{
	long i = find_row(TABLE(data_accelerators, row_matches), resource);

	return i < 0 ? NULL : &data_accelerators[i];
}

const struct accelerator *
accelerator_find(const struct accelerator_extra *extra, const char *resource)
{
	const struct accelerator *found;

	/* Native resources such as cpu and memory have no domain. */
	if (!resource || !strchr(resource, '/'))
		return NULL;
	for (size_t i = 0; extra && i < extra->n; i++)
		if (row_matches(extra->items[i].name, resource))
			return &extra->items[i];
	found = known(resource);
	if (!found && extra && extra->named && !fabric_resource(resource))
		found = extra->named(extra->context, resource);
	return found;
}

bool accelerator_counts(const struct accelerator *accelerator)
{
	return accelerator && accelerator->class != ACCEL_SHARE;
}

bool accelerator_is_claimed(const struct accelerator *accelerator)
{
	return accelerator->named ||
	       text_starts(accelerator->name,
			   "deviceclass.resource.kubernetes.io/");
}

bool fabric_resource(const char *resource)
{
	if (!resource || !strchr(resource, '/'))
		return false;
	for (size_t i = 0; i < data_fabric_n; i++)
		if (row_matches(data_fabric[i].text, resource))
			return true;
	return false;
}

bool domain_is_reserved(const char *name)
{
	for (size_t i = 0; i < data_reserved_domains_n; i++) {
		const char *domain = data_reserved_domains[i].text;
		size_t len = strlen(name), n = strlen(domain);

		if (text_ends(name, domain) &&
		    (len == n || name[len - n - 1] == '.'))
			return true;
	}
	return false;
}

/* --- names that resemble an accelerator's --------------------------------- */

#define NAME_LENGTH 128

/*
 * Returns the ASCII character that looks like this one, in lower case.
 * Full-width forms become ASCII. A blank and U+2000 to U+203F, such as
 * characters without width, become NUL. All others that are not ASCII become
 * '?'. Sets *len to the character's length in bytes.
 */
static char looks_like(const unsigned char *text, size_t *len)
{
	for (*len = 1; (text[*len] & 0xC0) == 0x80;)
		(*len)++;
	if (*text < 0x80)
		return *text == ' ' ? '\0' : (char)tolower(*text);
	if (*len == 3 && *text == 0xEF && text[1] == 0xBC)
		return (char)tolower(text[2] - 0x60);
	if (*len == 3 && *text == 0xEF && text[1] == 0xBD)
		return (char)tolower(text[2] - 0x20);
	if (*len == 3 && *text == 0xE2 && text[1] == 0x80)
		return '\0';
	return '?';
}

static void lower(const char *from, char to[NAME_LENGTH])
{
	const unsigned char *at = (const unsigned char *)from;
	size_t i = 0, len;

	for (; i < NAME_LENGTH - 1 && *at; at += len) {
		to[i] = looks_like(at, &len);
		i += to[i] != '\0';
	}
	to[i] = '\0';
}

/* Names in use for an accelerator without the right domain, and the resource
 * names that they mean. */
static const char *const bare_names[][2] = {
	{"gpu", "nvidia.com/gpu"},
	{"gpus", "nvidia.com/gpu"},
	{"nvidia", "nvidia.com/gpu"},
	{"nvidia-gpu", "nvidia.com/gpu"},
	{"nvidia.gpu", "nvidia.com/gpu"},
	{"nvidia_gpu", "nvidia.com/gpu"},
	{"nvidia.com", "nvidia.com/gpu"},
	{"nvidia.com.gpu", "nvidia.com/gpu"},
	{"nvidia.com-gpu", "nvidia.com/gpu"},
	{"nvidia.com_gpu", "nvidia.com/gpu"},
	{"nvidia/gpu", "nvidia.com/gpu"},
	{"nvidia/gpus", "nvidia.com/gpu"},
	{"nvidia.com/nvidia-gpu", "nvidia.com/gpu"},
	{"nvidia.com/gpu-count", "nvidia.com/gpu"},
	{"alpha.kubernetes.io/nvidia-gpu", "nvidia.com/gpu"},
	{"kubernetes.io/gpu", "nvidia.com/gpu"},
	{"amd-gpu", "amd.com/gpu"},
	{"amd/gpu", "amd.com/gpu"},
	{"tpu", "google.com/tpu"},
	{"google/tpu", "google.com/tpu"},
	{"cloud-tpus.google.com/v2", "google.com/tpu"},
	{"cloud-tpus.google.com/v3", "google.com/tpu"},
	{"intel/gpu", "gpu.intel.com/i915"},
	{"habana/gaudi", "habana.ai/gaudi"},
	{"neuron", "aws.amazon.com/neuron"},
	{"aws/neuron", "aws.amazon.com/neuron"},
};

/* True if the texts differ by two swapped neighbors: "gup" and "gpu". */
static bool swapped(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return a[0] && a[1] && a[0] == b[1] && a[1] == b[0] &&
	       !strcmp(a + 2, b + 2);
}

/* True for gpu, npu, tpu, vpu, ...: with another first letter it is another
 * kind of device. */
static bool is_unit(const char *name)
{
	return strlen(name) == 3 && !strcmp(name + 1, "pu");
}

static bool device_near(const char *name, const char *to)
{
	size_t length = strlen(to);

	if (!strcmp(name, to) || swapped(name, to))
		return true;
	/* A longer name is a variant of the resource, such as gpu.a100 or
	 * gpu-l4; mlu270 and mlu370 are two models. */
	if (strlen(name) > length + 1 || (is_unit(name) && is_unit(to)) ||
	    text_is_series(name, to))
		return false;
	return text_distance(name, to, 2) <= (length > 4 ? 2 : 1);
}

/* Like row_matches(), for a pattern with capitals and a name in lower case. */
static bool row_matches_lower(const char *pattern, const char *name)
{
	for (; *pattern; pattern++, name++) {
		if (*pattern == '*' && !pattern[1])
			return true;
		if ((*pattern | 0x20) != (*name | 0x20) ||
		    tolower((unsigned char)*pattern) != *name)
			return false;
	}
	return !*name;
}

/* A name in lower case, split at its slash. */
struct split_name {
	char domain[NAME_LENGTH];
	size_t len;
	const char *device;
	size_t device_len;
};

static void split(struct split_name *to, const char *name)
{
	to->len = strcspn(name, "/");
	memcpy(to->domain, name, to->len);
	to->domain[to->len] = '\0';
	to->device = name + to->len + 1;
	to->device_len = strlen(to->device);
}

/* True if the lengths differ by at most two. Most lengths differ by more, and
 * the names need no comparison. */
static bool same_length(size_t a, size_t b)
{
	return a <= b + 2 && a + 2 >= b;
}

static bool same_device(const struct split_name *name, const char *row)
{
	char to[NAME_LENGTH];

	if (!same_length(name->device_len, strlen(row)))
		return false;
	lower(row, to);
	return !strchr(to, '*') && device_near(name->device, to);
}

/*
 * True if the domains are equal, or so similar that one is misspelled: they
 * differ by at most two letters, or in a short domain by one, because two
 * letters mean another vendor there (arm.com and amd.com). If the names after
 * the domains differ too, only one letter in a long domain may differ.
 */
static bool same_domain(const struct split_name *name, const char *row,
			size_t len)
{
	char to[NAME_LENGTH];
	unsigned off;

	if (len >= NAME_LENGTH)
		return false;
	memcpy(to, row, len);
	to[len] = '\0';
	lower(to, to);
	off = text_distance(name->domain, to, 2);
	if (!off)
		return true;
	lower(row + len + 1, to);
	if (strcmp(name->device, to) != 0)
		return off == 1 && len > 8;
	return off <= (len > 8 ? 2 : 1);
}

/* Returns the first row that a name with a domain resembles, or NULL; rows that
 * differ only in case precede. An object may have tens of thousands of such
 * names, so lengths are compared first. */
static const struct accelerator *
nearest_accelerator(const struct accelerator *rows, size_t n, const char *name)
{
	struct split_name parts;

	for (size_t i = 0; i < n; i++)
		if (row_matches_lower(rows[i].name, name))
			return &rows[i];
	split(&parts, name);
	for (size_t i = 0; i < n; i++) {
		const char *row = rows[i].name;
		size_t len = strcspn(row, "/");

		if (row[len] && same_length(parts.len, len) &&
		    same_device(&parts, row + len + 1) &&
		    same_domain(&parts, row, len))
			return &rows[i];
	}
	return NULL;
}

/* True for resources that nearly every container requests. */
static bool is_compute(const char *resource)
{
	return text_eq(resource, "cpu") || text_eq(resource, "memory") ||
	       text_eq(resource, "ephemeral-storage");
}

const struct accelerator *
accelerator_resembles(const struct accelerator_extra *extra,
		      const char *resource)
{
	const struct accelerator *found = NULL;
	char name[NAME_LENGTH];

	if (!resource || is_compute(resource) ||
	    accelerator_find(extra, resource) || fabric_resource(resource) ||
	    strlen(resource) >= NAME_LENGTH)
		return NULL;
	lower(resource, name);
	for (size_t i = 0; i < ARRAY_SIZE(bare_names); i++)
		if (text_eq(bare_names[i][0], name))
			return known(bare_names[i][1]);
	if (!strchr(name, '/'))
		return NULL;
	if (extra)
		found = nearest_accelerator(extra->items, extra->n, name);
	return found ? found
		     : nearest_accelerator(data_accelerators,
					   data_accelerators_n, name);
}

bool gpu_taint_key(const struct accelerator_extra *extra, const char *key)
{
	for (size_t i = 0; key && extra && i < extra->n; i++)
		if (text_eq(extra->items[i].taint, key))
			return true;
	return key && text_any(key, data_taints, text_eq);
}

/* --- labels --------------------------------------------------------------- */

bool accelerator_is_named(const char *text, size_t len)
{
	for (size_t i = 0; i < data_accelerators_n; i++) {
		const char *name = data_accelerators[i].name;

		if (!strchr(name, '*') && text_find(text, len, name))
			return true;
	}
	return false;
}

const struct node_label *node_label_find(const char *key)
{
	/* Labels are often looked up several times in a row, so caching the
	 * last one saves 2 % of the time of a review. */
	static _Thread_local const struct node_label *last;
	long i;

	if (!key || (last && !strcmp(last->key, key)))
		return key ? last : NULL;
	i = find_row(TABLE(data_node_labels, row_matches), key);
	return i < 0 ? NULL : (last = &data_node_labels[i]);
}

const struct label_value *label_value_next(const char *key,
					   const struct label_value *after)
{
	size_t i = after ? (size_t)(after - data_label_values) + 1 : 0;

	while (i < data_label_values_n &&
	       !text_eq(data_label_values[i].key, key))
		i++;
	return i < data_label_values_n ? &data_label_values[i] : NULL;
}

const struct label_value *label_value_find(const char *key, const char *value)
{
	const struct label_value *row = NULL;

	while ((row = label_value_next(key, row)) &&
	       !text_eq(row->value, value))
		;
	return row;
}

/* Matches like row_matches(); "c5.*" also matches the family "c5". */
static bool family_matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	return row_matches(pattern, name) ||
	       (strlen(name) == len - 2 && !strncmp(pattern, name, len - 2));
}

const struct instance_type *instance_type_find(const char *name)
{
	long i;

	/* SageMaker's names of EC2 instance types begin with "ml.". */
	if (text_starts(name, "ml."))
		name += 3;
	i = name ? find_row(TABLE(data_instance_types, family_matches), name)
		 : -1;
	return i < 0 ? NULL : &data_instance_types[i];
}

/* --- images --------------------------------------------------------------- */

static const char *find_part(const char *text, const char *part, size_t len)
{
	if (!len)
		return text;
	while ((text = strchr(text, *part)) && strncmp(text, part, len) != 0)
		text++;
	return text;
}

/*
 * Matches a pattern in which only '*' is special and also matches '/'. For the
 * text between two '*', the first occurrence is as good as any later one.
 */
static bool wild_match(const char *pattern, const char *text)
{
	const char *star = strchr(pattern, '*');
	size_t len = star ? (size_t)(star - pattern) : 0;

	if (!star)
		return !strcmp(pattern, text);
	if (strncmp(pattern, text, len) != 0)
		return false;
	text += len;
	for (;;) {
		pattern = star + 1;
		star = strchr(pattern, '*');
		if (!star)
			return text_ends(text, pattern);
		len = (size_t)(star - pattern);
		text = find_part(text, pattern, len);
		if (!text)
			return false;
		text += len;
	}
}

/* Matches the pattern at the start of the path, or after a registry or
 * folder. */
static bool path_matches(const char *pattern, const char *path)
{
	if (*pattern == '*')
		return wild_match(pattern, path);
	while (path && !wild_match(pattern, path)) {
		path = strchr(path, '/');
		path = path ? path + 1 : NULL;
	}
	return path != NULL;
}

static unsigned pair_of(const char *p)
{
	return ((unsigned char)p[0] * 37u + (unsigned char)p[1]) % DATA_PAIRS;
}

/* Returns the bits of the patterns whose pair of adjacent bytes occurs in the
 * name. The other patterns, which are nearly all, cannot match. */
static uint64_t candidates(const char *name)
{
	uint64_t rows = 0;

	for (; *name && name[1]; name++) {
		unsigned row = data_images_pairs[pair_of(name)];

		for (; row; row = data_images_next[row])
			rows |= (uint64_t)1 << (row - 1);
	}
	return rows;
}

#define IMAGE_LENGTH 512

static void copy_head(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	to[len] = '\0';
}

/* Returns an enum image_use, or -1 if it is unknown. */
static int image_use(const char *image)
{
	char whole[IMAGE_LENGTH], name[IMAGE_LENGTH];
	uint64_t rows = image ? candidates(image) : 0;
	const char *base;

	if (!rows || strlen(image) >= IMAGE_LENGTH)
		return -1;
	copy_head(whole, image, strcspn(image, "@"));
	base = strrchr(whole, '/');
	base = base ? base + 1 : whole;
	copy_head(name, whole, (size_t)(base - whole) + strcspn(base, ":"));
	for (; rows; rows &= rows - 1) {
		const struct image_pattern *row =
			&data_images[__builtin_ctzll(rows)];

		if (path_matches(row->text,
				 strchr(row->text, ':') ? whole : name))
			return (int)row->use;
	}
	return -1;
}

struct image_type image_type(const char *image)
{
	int use = image_use(image);

	return (struct image_type){use == IMAGE_GPU,
				   use == IMAGE_INFRASTRUCTURE};
}
