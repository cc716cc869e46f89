/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a container that several rules need. */
#include "kinds.h"

#include <string.h>

#include "base/text.h"
#include "kube/claim.h"

/* Returns the entry of the value, or NULL if it is not in limits or requests.
 * In a merged map, index and parent of a node are those in the author's map. */
static const struct resource_entry *entry_of(const struct container *c,
					     const struct node *value)
{
	size_t n = c->nlimits + c->nrequests;
	size_t i =
		value->index + (value->parent == c->requests ? c->nlimits : 0);

	if (i < n && c->entries[i].node == value)
		return &c->entries[i];
	for (i = 0; i < n && c->entries[i].node != value;)
		i++;
	return i < n ? &c->entries[i] : NULL;
}

enum quantity_state container_value(const struct container *c,
				    const struct node *value,
				    struct quantity *q)
{
	const struct resource_entry *entry;

	if (!value || node_is_unknown(value)) {
		*q = quantity_from(0);
		return value ? QUANTITY_UNKNOWN : QUANTITY_ABSENT;
	}
	entry = entry_of(c, value);
	if (!entry)
		return node_quantity(value, q);
	*q = entry->quantity;
	return entry->state;
}

const char *container_title(const struct container *c)
{
	const struct node *name = node_get(c->node, "name");

	if (c->name)
		return c->name;
	return node_is_unknown(name) && name->str ? name->str
						  : "(without a name)";
}

const char *image_tag(const char *image)
{
	const char *slash = strrchr(image, '/');
	const char *tag = strchr(slash ? slash : image, ':');

	return tag && tag[1] && !strchr(image, '@') ? tag + 1 : NULL;
}

static bool word_is(const char *word, size_t len, const char *name)
{
	return *name == *word && !strncmp(name, word, len) && !name[len];
}

/* True for a word of a tag that is updated: `main-latest`, `nightly-py3`. In
 * `12.4.1-devel-ubuntu22.04`, devel means that the image contains a
 * compiler. */
static bool is_moving(const char *word, size_t len, const char *tag)
{
	static const char *const words[] = {"latest", "nightly", "main",
					    "master", "dev",	 "edge",
					    "canary", NULL};

	for (const char *const *name = words; *name; name++)
		if (word_is(word, len, *name))
			return true;
	return word_is(word, len, "devel") && !strchr(tag, '.');
}

/* True if the tag contains a commit or a day: `nightly-20260626-c539adc`,
 * `nightly-2026-06-26`. */
static bool names_build(const char *tag)
{
	size_t len, digits = 0;

	for (; *tag; tag += len + (tag[len] != '\0')) {
		size_t numeric = strspn(tag, "0123456789");

		len = strcspn(tag, "-_");
		digits = numeric == len ? digits + len : 0;
		if (digits >= 8 || (len >= 7 && numeric < len &&
				    strspn(tag, "0123456789abcdef") == len &&
				    strcspn(tag, "0123456789") < len))
			return true;
	}
	return false;
}

/* True if the tag ends with the number of a build of the branch: `main-1234`,
 * `master-7`. */
static bool numbers_build(const char *word, size_t len)
{
	size_t digits = word[len] ? strspn(word + len + 1, "0123456789") : 0;

	return digits && !word[len + 1 + digits] &&
	       (word_is(word, len, "main") || word_is(word, len, "master"));
}

bool image_is_fixed(const char *image)
{
	const char *tag = image_tag(image), *word = tag;
	size_t len;

	if (strchr(image, '@') || (tag && names_build(tag)))
		return true;
	for (; word && *word; word += len + (word[len] != '\0')) {
		len = strcspn(word, "-_");
		if (is_moving(word, len, tag))
			return numbers_build(word, len);
	}
	return tag != NULL;
}

struct image_type container_image(const struct container *c)
{
	struct container_memo *memo = c->memo;

	if (memo->image_known)
		return memo->image;
	memo->image_known = true;
	/* Containers with the same image are usually adjacent. */
	if (c > c->pod->containers && memo[-1].image_known &&
	    text_eq(c->image, c[-1].image))
		memo->image = memo[-1].image;
	else
		memo->image = image_type(c->image);
	return memo->image;
}

const struct node *container_env_tagged(const struct container *c,
					const char *name, uint16_t tag)
{
	const struct node *added;

	for (size_t i = c->nenv; i--;)
		if (c->env[i].tag == tag && node_eq(c->env[i].name, name))
			return c->env[i].node;
	added = node_get(c->pod->injected, "env");
	return node_is_unknown(added) ? added : NULL;
}

/* Returns the length of the path without trailing slashes; "/" has length 1. */
static size_t path_len(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

const struct node *container_mount(const struct container *c, const char *path)
{
	size_t len = path_len(path);

	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const struct node *node = node_get(mount, "mountPath");
		const char *at = node_str(node);

		if (at && len && node->len >= len &&
		    at[len - 1] == path[len - 1] && path_len(at) == len &&
		    !memcmp(at, path, len))
			return mount;
	}
	return NULL;
}

/* Returns whether the pod's claim of that name is for accelerators; unknown if
 * the claim does not exist. */
static enum tri named_claim_use(const struct pod *pod, const struct node *name)
{
	const char *text = node_str(name);
	struct amount n;

	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), claim)
		if (text && node_eq(node_get(claim, "name"), text))
			return claim_use(pod, claim, &n);
	return TRI_UNKNOWN;
}

enum tri container_uses_gpu(const struct container *c)
{
	const struct node *claims = node_get(c->resources, "claims");
	enum tri use = TRI_NO;

	if (c->gpus.n > 0 || c->accelerator)
		return TRI_YES;
	if (c->gpus.unknown || node_is_unknown(c->resources) ||
	    node_is_unknown(claims))
		return TRI_UNKNOWN;
	/* The API server allows far fewer claims. */
	if (node_count(claims) > 256)
		return TRI_UNKNOWN;
	FOR_EACH_CHILD(claims, claim)
		use = tri_or(use,
			     named_claim_use(c->pod, node_get(claim, "name")));
	return use;
}

const struct node *container_security(const struct container *c,
				      const char *key)
{
	const struct node *own =
		node_get(node_get(c->node, "securityContext"), key);

	return node_is_unset(own)
		       ? node_get(pod_field(c->pod, "securityContext"), key)
		       : own;
}
