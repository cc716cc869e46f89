/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts; the tables are described in metrics_internal.h. All additions are
 * relaxed: a page that is read at the same time may show one of two related
 * counts before the other.
 */
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "engine/registry.h"
#include "metrics_internal.h"

/*
 * Numbers for label values that are not known in advance. A look-up takes no
 * lock; adding a value does, at most `limit` times. Values that are too long or
 * not UTF-8 are corrected before they are compared: if only the page corrected
 * them, two values could become one series.
 */

/* names must be zero-filled. */
static void names_init(struct metric_labels *names, unsigned limit)
{
	names->limit = limit;
	names->key = text_key_of_process();
	pthread_mutex_init(&names->lock, NULL);
}

static void names_release(struct metric_labels *names)
{
	unsigned n = atomic_load(&names->n);

	for (unsigned i = 1; i <= n; i++)
		free(atomic_load(&names->items[i]));
	pthread_mutex_destroy(&names->lock);
}

/* Returns the slot of the text, or the free slot for it. */
static size_t slot_of(struct metric_labels *names, const char *text, size_t len,
		      struct metric_label **found)
{
	size_t at = text_hash_under(names->key, text, len) & (NAME_SLOTS - 1);

	for (;; at = (at + 1) & (NAME_SLOTS - 1)) {
		struct metric_label *name = atomic_load_explicit(
			&names->slots[at], memory_order_acquire);

		*found = name;
		if (!name ||
		    (name->len == len && !memcmp(name->text, text, len)))
			return at;
	}
}

static unsigned add_name(struct metric_labels *names, const char *text,
			 size_t len)
{
	struct metric_label *name;
	size_t at = slot_of(names, text, len, &name);
	unsigned n = atomic_load(&names->n);

	if (name)
		return name->number;
	if (n >= names->limit)
		return 0;
	name = malloc(sizeof(*name) + len + 1);
	if (!name)
		return 0;
	name->number = n + 1;
	name->len = len;
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	atomic_store(&names->items[n + 1], name);
	atomic_store(&names->n, n + 1);
	atomic_store_explicit(&names->slots[at], name, memory_order_release);
	return n + 1;
}

/* Copies the text, cut to NAME_BYTES bytes, as valid UTF-8. */
static size_t mend(const char *text, char *out)
{
	size_t len = strlen(text), n = 0;

	while (len) {
		size_t step = utf8_length(text, len);
		const char *from = step ? text : "\xef\xbf\xbd";
		size_t bytes = step ? step : 3;

		if (n + bytes > NAME_BYTES)
			break;
		memcpy(out + n, from, bytes);
		n += bytes;
		text += step ? step : 1;
		len -= step ? step : 1;
	}
	return n;
}

/* Returns the number of the text; NULL is treated as "". */
static unsigned names_number(struct metric_labels *names, const char *text)
{
	size_t len;
	char mended[NAME_BYTES];
	struct metric_label *name;
	unsigned number;

	if (!text)
		text = "";
	len = strnlen(text, NAME_BYTES + 1);
	if (len > NAME_BYTES || !text_is_ascii(text, len)) {
		len = mend(text, mended);
		text = mended;
	}
	slot_of(names, text, len, &name);
	if (name)
		return name->number;
	if (atomic_load_explicit(&names->n, memory_order_relaxed) >=
	    names->limit)
		return 0;
	pthread_mutex_lock(&names->lock);
	number = add_name(names, text, len);
	pthread_mutex_unlock(&names->lock);
	return number;
}

const char *names_text(struct metric_labels *names, unsigned number)
{
	return number ? atomic_load(&names->items[number])->text : "other";
}

const char *const metrics_webhooks[] = {"mutate", "validate", "other"};
const char *const metrics_operations[] = {"CREATE", "UPDATE", "DELETE",
					  "CONNECT", "other"};
const char *const metrics_decisions[] = {"allow", "warn",  "audit", "patch",
					 "deny",  "error", "other"};
const char *const metrics_actions[] = {"deny", "patch", "warn", "audit",
				       "other"};
const char *const metrics_modes[] = {"audit", "warn", "enforce", "other"};
const char *const metrics_levels[] = {"owner", "pod", "other"};
const char *const metrics_bounds[] = {
	"0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01",
	"0.025",  "0.1",     "0.5",    "1",	"2.5",	  "+Inf"};
static const uint64_t bounds_ns[BUCKETS - 1] = {
	100000,	  250000,   500000,    1000000,	  2500000,    5000000,
	10000000, 25000000, 100000000, 500000000, 1000000000, 2500000000};

/* Returns the index of a word in a list, whose last item means all other
 * words. */
static unsigned place(const char *word, const char *const *list, unsigned n)
{
	for (unsigned i = 0; word && i < n - 1; i++)
		if (!strcmp(word, list[i]))
			return i;
	return n - 1;
}

#define PLACE(word, list) place((word), (list), ARRAY_SIZE(list))

static void count_event(_Atomic uint64_t *word, uint64_t by)
{
	atomic_fetch_add_explicit(word, by, memory_order_relaxed);
}

struct metrics *metrics_new(void)
{
	struct metrics *m = aligned_alloc(64, sizeof(*m));
	struct timespec now;

	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->requests = calloc(1, sizeof(*m->requests));
	m->findings = calloc(FINDING_SLOTS, sizeof(*m->findings));
	if (!m->requests || !m->findings) {
		free(m->requests);
		free(m->findings);
		free(m);
		return NULL;
	}
	names_init(&m->kinds, MAX_KINDS);
	names_init(&m->namespaces, MAX_NAMESPACES);
	names_init(&m->rules, MAX_RULES);
	pthread_mutex_init(&m->lock, NULL);
	clock_gettime(CLOCK_REALTIME, &now);
	m->start_time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	for (int i = 0; i < METRICS_GAUGES; i++)
		m->gauges[i] = i == METRICS_CONNECTIONS ? 0 : NAN;
	/* Every cluster sends Pods, so this kind's series begin at 0. */
	names_number(&m->kinds, "Pod");
	return m;
}

static void free_exemptions(struct metrics *m)
{
	for (size_t i = 0; i < m->nexemptions; i++)
		free(m->exemptions[i].name);
	free(m->exemptions);
	m->exemptions = NULL;
	m->nexemptions = 0;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	free_exemptions(m);
	names_release(&m->kinds);
	names_release(&m->namespaces);
	names_release(&m->rules);
	pthread_mutex_destroy(&m->lock);
	free(m->requests);
	free(m->findings);
	free(m);
}

void metrics_count_request(struct metrics *m,
			   const struct metrics_request *request)
{
	unsigned webhook = PLACE(request->webhook, metrics_webhooks);
	unsigned operation = PLACE(request->operation, metrics_operations);
	unsigned decision = PLACE(request->decision, metrics_decisions);
	unsigned kind = names_number(&m->kinds, request->kind);
	struct duration *duration = &m->durations[webhook];
	unsigned bucket = 0;

	while (bucket < BUCKETS - 1 && request->nanoseconds > bounds_ns[bucket])
		bucket++;
	count_event(&m->requests->count[kind][webhook][operation][decision]
				       [request->dry_run],
		    1);
	count_event(&duration->buckets[bucket], 1);
	count_event(&duration->nanoseconds, request->nanoseconds);
}

/* --- findings ----------------------------------------------------------- */

/* Packs the labels into a key, which is never 0. */
static uint64_t pack(const struct finding_labels *l)
{
	return (uint64_t)1 << 32 | (uint64_t)l->rule << 16 |
	       (uint64_t)l->action << 13 | (uint64_t)l->mode << 11 |
	       (uint64_t)l->level << 9 | l->namespace;
}

struct finding_labels metrics_unpack(uint64_t key)
{
	return (struct finding_labels){
		.rule = key >> 16 & 0xffff,
		.action = key >> 13 & 7,
		.mode = key >> 11 & 3,
		.level = key >> 9 & 3,
		.namespace = key & 0x1ff,
	};
}

/* Returns the slot of the key. A new key takes a free slot; beyond
 * FINDING_LIMIT only if `over` is true, otherwise NULL is returned. */
static struct finding_slot *find_slot(struct metrics *m, uint64_t key,
				      bool over)
{
	size_t at = (key * 0x9e3779b97f4a7c15u) >> 48 & (FINDING_SLOTS - 1);

	for (;; at = (at + 1) & (FINDING_SLOTS - 1)) {
		struct finding_slot *slot = &m->findings[at];
		uint64_t here = atomic_load(&slot->key);

		if (!here && !over &&
		    atomic_load(&m->nfindings) >= FINDING_LIMIT)
			return NULL;
		if (!here &&
		    atomic_compare_exchange_strong(&slot->key, &here, key)) {
			atomic_fetch_add(&m->nfindings, 1);
			return slot;
		}
		if (here == key)
			return slot;
	}
}

void metrics_count_finding(struct metrics *m,
			   const struct metrics_finding *finding)
{
	struct finding_labels labels = {
		.rule = names_number(&m->rules, finding->rule),
		.action = PLACE(finding->action, metrics_actions),
		.mode = PLACE(finding->mode, metrics_modes),
		.level = PLACE(finding->level, metrics_levels),
		.namespace = names_number(&m->namespaces, finding->namespace),
	};
	struct finding_slot *slot = find_slot(m, pack(&labels), false);

	if (!slot) {
		labels.namespace = 0;
		slot = find_slot(m, pack(&labels), true);
	}
	count_event(&slot->count, 1);
	if (finding->gpus > 0)
		count_event(&m->gpus[labels.rule][labels.action],
			    (uint64_t)finding->gpus);
}

void metrics_count_patch(struct metrics *m, const char *rule)
{
	count_event(&m->patches[names_number(&m->rules, rule)], 1);
}

unsigned metrics_rule_number(struct metrics *m, const char *rule)
{
	return names_number(&m->rules, rule);
}

void metrics_count_not_run(struct metrics *m, unsigned number)
{
	count_event(&m->not_run[number], 1);
}

void metrics_know_rules(struct metrics *m, const struct rule_set *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->items[i];
		unsigned number = names_number(&m->rules, rule->name);

		if (!number)
			return;
		if (rule->flags & (RULE_SAFE_PATCH | RULE_OPT_IN_PATCH))
			atomic_store(&m->patching[number], true);
		if (rule->needs & NEEDS_CLUSTER)
			atomic_store(&m->bound[number], true);
	}
}

/* --- the rest ----------------------------------------------------------- */

int64_t metrics_in_flight(struct metrics *m, int by)
{
	return atomic_fetch_add(&m->in_flight, by) + by;
}

void metrics_set(struct metrics *m, enum metrics_gauge gauge, double value)
{
	if ((unsigned)gauge >= METRICS_GAUGES)
		BUG("no gauge %d", (int)gauge);
	atomic_store(&m->gauges[gauge], value);
}

void metrics_add(struct metrics *m, enum metrics_counter counter, uint64_t by)
{
	if ((unsigned)counter >= METRICS_COUNTERS)
		BUG("no counter %d", (int)counter);
	count_event(&m->counters[counter], by);
}

void metrics_set_build(struct metrics *m, const char *version)
{
	pthread_mutex_lock(&m->lock);
	snprintf(m->version, sizeof(m->version), "%s", version);
	pthread_mutex_unlock(&m->lock);
}

void metrics_set_policy(struct metrics *m, const char *hash)
{
	pthread_mutex_lock(&m->lock);
	snprintf(m->policy, sizeof(m->policy), "%s", hash);
	pthread_mutex_unlock(&m->lock);
}

/*
 * Keeps the earlier end of exemptions with the same name. Returns true if the
 * item adds a name.
 */
static bool keep_exemption(struct exemption_series *copies, size_t n,
			   const struct metrics_exemption *item)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(copies[i].name, item->name) != 0)
			continue;
		if (item->until < copies[i].until)
			copies[i].until = item->until;
		return false;
	}
	copies[n].name = strdup(item->name);
	copies[n].until = item->until;
	return copies[n].name != NULL;
}

void metrics_set_exemptions(struct metrics *m,
			    const struct metrics_exemption *items, size_t n)
{
	struct exemption_series *copies;
	size_t kept = 0;

	if (n > MAX_EXEMPTIONS)
		n = MAX_EXEMPTIONS;
	copies = n ? calloc(n, sizeof(*copies)) : NULL;
	for (size_t i = 0; copies && i < n; i++)
		kept += keep_exemption(copies, kept, &items[i]);
	pthread_mutex_lock(&m->lock);
	free_exemptions(m);
	m->exemptions = copies;
	m->nexemptions = kept;
	pthread_mutex_unlock(&m->lock);
}

void metrics_set_objects(struct metrics *m, const struct metrics_objects *items,
			 size_t n)
{
	if (n > METRICS_OBJECTS)
		n = METRICS_OBJECTS;
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < n; i++)
		m->objects[i] = items[i];
	m->nobjects = n;
	pthread_mutex_unlock(&m->lock);
}
