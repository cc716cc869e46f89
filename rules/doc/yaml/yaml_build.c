/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the tree from YAML events. Open maps and seqs are a stack of frames;
 * the state of the innermost frame decides where a value belongs. The last of
 * two equal keys counts, as in go-yaml: it takes the place of the first, so
 * that n repetitions cost no more than n keys.
 *
 * decodes counts as go-yaml's decoder does, one for each key and value, so that
 * its guard against alias bombs rejects the same documents here.
 */
#include <string.h>

#include "base/array.h"
#include "doc/build.h"
#include "yaml.h"

static struct frame *top(struct yaml *yaml)
{
	return yaml->nframes ? &yaml->frames[yaml->nframes - 1] : NULL;
}

void yaml_raise(struct yaml *yaml, uint32_t height)
{
	struct frame *frame = top(yaml);

	if (frame && frame->height < height)
		frame->height = height;
}

static struct node *new_node(struct yaml *yaml, uint32_t at)
{
	if (!yaml->nodes_left) {
		yaml->loader->costly = true;
		yaml_refuse(yaml, at, at + 1, "more than %u values",
			    yaml->nodes_max);
		return NULL;
	}
	yaml->nodes_left--;
	return node_new(yaml->arena, NODE_NULL);
}

void yaml_graft(struct node *node, const struct node *from)
{
	node_take(node, from);
	node->start = from->start;
	node->end = from->end;
}

struct node *yaml_member(struct yaml *yaml, struct frame *frame,
			 const char *key, size_t len)
{
	struct node *map = frame->node;

	if (!(map->tags & node_tag_bit(node_tag(key, len))))
		return NULL;
	return node_find(yaml->arena, map, key, len);
}

struct node *yaml_replace(struct yaml *yaml, struct frame *frame,
			  struct node *old)
{
	static const struct node empty;
	struct node *node;

	if (!(old->flags & NODE_ANCHORED)) {
		yaml_graft(old, &empty);
		return old;
	}
	/* Aliases still need the old value; unlinking drops the map's index. */
	if (!yaml_spend(yaml, 64 * (uint64_t)frame->node->len, old->start))
		return NULL;
	node = new_node(yaml, old->start);
	if (!node)
		return NULL;
	node->key = old->key;
	node->key_len = old->key_len;
	node_unlink(frame->node, old);
	node_append(frame->node, node);
	return node;
}

/* Steps of the work budget that one report costs. */
enum { DUPLICATE_WORK = 200 };

static struct node *place_member(struct yaml *yaml, struct frame *frame)
{
	struct node *old = yaml_member(yaml, frame, frame->key, frame->key_len);
	struct load_issue issue = {
		.kind = LOAD_DUPLICATE_KEY,
		.start = frame->key_start,
		.end = frame->key_end,
	};
	struct node *node;

	if (old) {
		if (!yaml_spend(yaml, DUPLICATE_WORK, frame->key_start))
			return NULL;
		if (!(old->flags & NODE_MERGED))
			yaml_issue(yaml, &issue,
				   "key \"%.100s\" is given twice (before on "
				   "line %u): the last value counts",
				   frame->key, yaml_line(yaml, old->key_start));
		node = yaml_replace(yaml, frame, old);
	} else {
		node = new_node(yaml, frame->key_start);
	}
	if (!node)
		return NULL;
	node->key_start = frame->key_start;
	node->key_end = frame->key_end;
	if (!old) {
		node->key = frame->key;
		node->key_len = (uint32_t)frame->key_len;
		node_append(frame->node, node);
	}
	return node;
}

struct node *yaml_place(struct yaml *yaml, uint32_t at)
{
	struct frame *frame = top(yaml);
	struct node *node;

	if (frame && frame->state == WANT_VALUE) {
		frame->state = WANT_KEY;
		return place_member(yaml, frame);
	}
	node = new_node(yaml, at);
	if (!node)
		return NULL;
	if (!frame) {
		yaml->root = node;
	} else if (frame->state == IN_SEQ) {
		node->key_start = node->key_end = at;
		node_append(frame->node, node);
	} else {
		/* A merge value is not an entry of the map. */
		frame->state = WANT_KEY;
	}
	return node;
}

static bool resolve(struct yaml *yaml, const struct yaml_text *text,
		    struct scalar *scalar)
{
	scalar->kind = SCALAR_STRING;
	if (!text->tag &&
	    (!text->plain ||
	     (text->len && !scalar_may_resolve((unsigned char)*text->text))))
		return true;
	/* Without a tag, every text has a type. */
	if (scalar_resolve(text->text, text->len, text->tag, scalar) ||
	    !text->tag)
		return true;
	return yaml_refuse(
		yaml, text->start, text->end, "%s does not fit the tag !!%s",
		scalar_kind_name(scalar->kind), strrchr(text->tag, ':') + 1);
}

static bool fill_scalar(struct yaml *yaml, const struct yaml_text *text,
			const struct scalar *scalar, struct node *node)
{
	node->flags = text->flags;
	node->start = text->start;
	node->end = text->end;
	if (node->start == node->end && scalar->kind == SCALAR_NULL)
		node->flags |= NODE_IMPLICIT;
	if (scalar_to_node(yaml->arena, scalar, text->text, text->len, node))
		return true;
	if (scalar->kind == SCALAR_BINARY)
		return yaml_refuse(yaml, text->start, text->end,
				   "the value of !!binary is not base64");
	node->type = NODE_FLOAT;
	node->str = NULL;
	yaml->unfit = true;
	return true;
}

static bool is_merge(const struct yaml_text *text)
{
	return text->len == 2 && !memcmp(text->text, "<<", 2) &&
	       (text->plain ||
		(text->tag && !strcmp(text->tag, "tag:yaml.org,2002:merge")));
}

/* Stores the anchor of a key, to which aliases may refer. */
static bool anchor_key(struct yaml *yaml, const struct yaml_text *text,
		       const struct scalar *scalar)
{
	struct node *node = new_node(yaml, text->start);
	struct anchor *anchor;

	if (!node || !fill_scalar(yaml, text, scalar, node))
		return false;
	anchor = yaml_anchor(yaml, text->anchor, node);
	anchor->value = *scalar;
	return true;
}

bool yaml_key(struct yaml *yaml, struct frame *frame,
	      const struct scalar *scalar, const char *text, size_t len)
{
	frame->key_len = len;
	frame->key = scalar_to_key(yaml->arena, scalar, text, &frame->key_len);
	if (frame->key || scalar->kind == SCALAR_BINARY)
		return frame->key;
	frame->key = scalar->kind == SCALAR_NULL ? YAML_UNFIT "null"
						 : YAML_UNFIT
			     "an integer above "
			     "int64";
	frame->key_len = strlen(frame->key);
	yaml->unfit = true;
	return true;
}

static bool take_key(struct yaml *yaml, struct frame *frame,
		     const struct yaml_text *text)
{
	struct scalar scalar;

	frame->key_start = text->start;
	frame->key_end = text->end;
	yaml->last_end = text->end;
	if (is_merge(text)) {
		scalar.kind = SCALAR_STRING;
		frame->state = WANT_MERGE;
		return !text->anchor || anchor_key(yaml, text, &scalar);
	}
	yaml->decodes++;
	if (!resolve(yaml, text, &scalar))
		return false;
	if (!yaml_key(yaml, frame, &scalar, text->text, text->len))
		return yaml_refuse(yaml, text->start, text->end,
				   "the value of !!binary is not base64");
	frame->state = WANT_VALUE;
	return !text->anchor || anchor_key(yaml, text, &scalar);
}

/* Moves the position of a missing value from the next token, where libyaml
 * places it, to the end of its key. */
static void place_implicit(struct yaml *yaml, const struct frame *frame,
			   struct yaml_text *text)
{
	if (frame && frame->state == WANT_VALUE && text->start > 0 &&
	    yaml->text[text->start - 1] != ':')
		text->start = text->end = frame->key_end;
}

bool yaml_scalar(struct yaml *yaml, const struct yaml_text *event)
{
	struct frame *frame = top(yaml);
	struct yaml_text text = *event;
	struct scalar scalar;
	struct anchor *anchor;
	struct node *node;

	if (frame && frame->state == WANT_KEY)
		return take_key(yaml, frame, &text);
	if (frame && frame->state == WANT_MERGE)
		return yaml_refuse_merge(yaml, text.start, text.end);
	if (text.absent)
		place_implicit(yaml, frame, &text);
	if (!resolve(yaml, &text, &scalar))
		return false;
	yaml->decodes++;
	yaml->last_end = text.end;
	node = yaml_place(yaml, text.start);
	if (!node || !fill_scalar(yaml, &text, &scalar, node))
		return false;
	if (!text.anchor)
		return true;
	node->flags |= NODE_ANCHORED;
	anchor = yaml_anchor(yaml, text.anchor, node);
	anchor->value = scalar;
	return true;
}

bool yaml_open(struct yaml *yaml, struct node *like, const char *anchor)
{
	uint32_t limit = yaml->loader->limits->depth;
	struct frame *parent = top(yaml);
	struct frame frame = {
		.state = like->type == NODE_MAP ? WANT_KEY : IN_SEQ,
		.flow = like->flags & NODE_FLOW,
		.merge = parent && parent->state == WANT_MERGE,
		.decodes = yaml->decodes,
	};

	if (parent && parent->state == WANT_KEY)
		return yaml_refuse(yaml, like->start, like->start + 1,
				   "a %s cannot be a key",
				   like->type == NODE_MAP ? "map" : "list");
	if (yaml->nframes >= limit)
		return yaml_refuse(yaml, like->start, like->start + 1,
				   "nested deeper than %u levels", limit);
	/* The decoder does not count a list of merges as a value. */
	if (!frame.merge || like->type == NODE_MAP)
		yaml->decodes++;
	frame.node = yaml_place(yaml, like->start);
	if (!frame.node)
		return false;
	frame.node->type = like->type;
	frame.node->flags = like->flags;
	frame.node->start = like->start;
	if (anchor) {
		frame.node->flags |= NODE_ANCHORED;
		frame.anchor = yaml_anchor(yaml, anchor, frame.node);
	}
	*VEC_PUSH(yaml->arena, yaml->frames, yaml->nframes, yaml->frames_size) =
		frame;
	return true;
}

bool yaml_close(struct yaml *yaml, uint32_t end)
{
	struct frame frame = yaml->frames[--yaml->nframes];
	struct node *node = frame.node;
	char bracket = node->type == NODE_MAP ? '}' : ']';

	yaml->flow_depth -= frame.flow;
	/* In [a: 1], the inner map is without brackets. */
	if (!frame.flow || end <= yaml->last_end ||
	    yaml->text[end - 1] != bracket)
		end = yaml->last_end;
	node->end = end > node->start ? end : node->start + 1;
	yaml->last_end = node->end;
	if (frame.anchor && frame.anchor->target == node) {
		frame.anchor->decodes = yaml->decodes - frame.decodes;
		frame.anchor->height = frame.height + 1;
	}
	yaml_raise(yaml, frame.height + 1);
	return !frame.merge || yaml_merge(yaml, node, 0);
}
