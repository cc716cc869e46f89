/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs a workload into bytes and unpacks it. Structs are copied without
 * conversion (same process, same layout), each followed by the data of its
 * pointers; texts end with a NUL, so that they can be used in place. One
 * function both packs and unpacks, so that the two cannot differ.
 */
#include <string.h>

#include "base/err.h"
#include "index_internal.h"

enum { NO_TEXT = 0, TEXT = 1 };

struct pack {
	struct buf *out; /* output when packing; NULL when unpacking */
	const char *at, *end;
	struct arena *arena;
	bool broken;
};

static void pack_bytes(struct pack *p, void *data, size_t len)
{
	if (p->out) {
		buf_add(p->out, data, len);
	} else if (p->broken || len > (size_t)(p->end - p->at)) {
		memset(data, 0, len);
		p->broken = true;
	} else {
		memcpy(data, p->at, len);
		p->at += len;
	}
}

static void pack_text(struct pack *p, const char **text)
{
	char mark = *text ? TEXT : NO_TEXT;
	const char *nul;

	pack_bytes(p, &mark, 1);
	if (p->out) {
		if (*text)
			buf_add(p->out, *text, strlen(*text) + 1);
		return;
	}
	*text = NULL;
	if (mark == NO_TEXT)
		return;
	nul = memchr(p->at, '\0', (size_t)(p->end - p->at));
	p->broken |= !nul;
	if (p->broken)
		return;
	*text = p->at;
	p->at = nul + 1;
}

/* Packs n items of that size and returns them; or unpacks n items and returns
 * them, NULL if there are too few bytes. */
static void *pack_items(struct pack *p, void *items, size_t n, size_t size)
{
	if (!p->out) {
		if (p->broken || n > (size_t)(p->end - p->at) / size)
			p->broken = true;
		items = p->broken ? NULL : arena_alloc(p->arena, n * size);
	}
	if (n && !p->broken)
		pack_bytes(p, items, n * size);
	return items;
}

static void pack_id(struct pack *p, struct object_id *id)
{
	pack_text(p, &id->api_version);
	pack_text(p, &id->kind);
	pack_text(p, &id->namespace);
	pack_text(p, &id->name);
}

static void pack_pod(struct pack *p, struct workload_pod *pod)
{
	pack_text(p, &pod->role);
	pack_text(p, &pod->place.pointer);
	pack_text(p, &pod->priority_class);
	pack_text(p, &pod->priority_place.pointer);
	pack_text(p, &pod->number_place.pointer);
	pack_text(p, &pod->device_class);
	pod->demand =
		pack_items(p, pod->demand, pod->ndemand, sizeof(*pod->demand));
	for (size_t i = 0; i < pod->ndemand && !p->broken; i++)
		pack_text(p, &pod->demand[i].resource);
	pod->references = pack_items(p, pod->references, pod->nreferences,
				     sizeof(*pod->references));
	for (size_t i = 0; i < pod->nreferences && !p->broken; i++) {
		pack_text(p, &pod->references[i].name);
		pack_text(p, &pod->references[i].place.pointer);
	}
	pod->labels =
		pack_items(p, pod->labels, pod->nlabels, sizeof(*pod->labels));
	for (size_t i = 0; i < pod->nlabels && !p->broken; i++) {
		pack_text(p, &pod->labels[i].key);
		pack_text(p, &pod->labels[i].value);
	}
	pod->missing = pack_items(p, pod->missing, pod->nmissing,
				  sizeof(*pod->missing));
	for (size_t i = 0; i < pod->nmissing && !p->broken; i++) {
		pack_text(p, &pod->missing[i].container);
		pack_text(p, &pod->missing[i].place.pointer);
	}
}

static void pack_workload(struct pack *p, struct workload *w)
{
	pack_bytes(p, w, sizeof(*w));
	pack_id(p, &w->id);
	pack_text(p, &w->place.pointer);
	pack_text(p, &w->queue);
	pack_text(p, &w->kueue_queue);
	w->pods = pack_items(p, w->pods, w->npods, sizeof(*w->pods));
	for (size_t i = 0; i < w->npods && !p->broken; i++)
		pack_pod(p, &w->pods[i]);
}

void workload_pack(const struct workload *workload, struct buf *out)
{
	struct workload copy = *workload;
	struct pack pack = {.out = out};

	if (workload->place.node)
		BUG("a workload is kept whose places are not settled");
	pack_workload(&pack, &copy);
}

struct workload *workload_unpack(const void *data, size_t len,
				 struct arena *arena)
{
	struct workload *w = ARENA_NEW(arena, struct workload);
	struct pack pack = {
		.at = data, .end = (const char *)data + len, .arena = arena};

	pack_workload(&pack, w);
	return pack.broken || pack.at != pack.end ? NULL : w;
}
