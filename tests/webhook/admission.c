/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The webhook without sockets: reads reviews from files and prints the answers,
 * one per line. For tests with many reviews that do not need TLS.
 *
 *	admission [--policy PATH | --preset NAME] [--cluster FILE]
 *		  [--repeat N] mutate|validate|findings FILE...
 *
 * `findings` prints one JSON object per review: the findings about
 * request.object, whatever the policy does with them, the number of its GPUs,
 * and the object after the fixes that the policy applies (null without any).
 * FILE `@LIST` names a file with one path per line. --repeat answers each
 *review N times and prints to stderr the CPU nanoseconds of one.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/cluster/cluster.h"
#include "webhook/admission/admission.h"
#include "webhook/admission/judge.h"
#include "webhook/admission/review.h"

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "admission: %s: %s\n", what, name);
	exit(2);
}

static void read_file(const char *path, struct buf *out)
{
	char chunk[65536];
	size_t n;
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;

	if (!f)
		fail("cannot read", path);
	buf_reset(out);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_add(out, chunk, n);
	if (f != stdin)
		fclose(f);
}

static struct policy *load(const struct rule_set *set, const char *path,
			   const char *preset)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy;

	if (!path) {
		policy = policy_default(set, preset);
		if (!policy)
			fail("no such preset", preset);
		return policy;
	}
	policy = policy_load(set, path, &options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		fprintf(stderr, "%s:%u:%u: %s\n", problems.items[i].file,
			problems.items[i].line, problems.items[i].column,
			problems.items[i].text);
	policy_problems_release(&problems);
	if (!policy)
		fail("no policy", path);
	return policy;
}

static const struct cluster *load_cluster(const char *path)
{
	struct err err = {0};
	const struct cluster *cluster =
		cluster_load(path, false, NULL, NULL, &err);

	if (!cluster)
		fail(err.text, path);
	return cluster;
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct asking {
	struct admission_worker *worker;
	enum admission_path path;
	long repeat;
	struct buf body;
	const struct policy *policy;
	const struct cluster *cluster;
	const struct rule_set *rules;
	bool findings;
};

static json_t *finding_json(const struct finding *f)
{
	char hex[17];

	snprintf(hex, sizeof(hex), "%016llx",
		 (unsigned long long)f->fingerprint);
	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:s, s:s, s:b}",
			 "rule", f->rule->name, "action",
			 action_name(f->action), "patches", judge_patches(f),
			 "safe", f->fix_safe, "severity",
			 severity_name(f->severity), "message", f->message,
			 "path", f->place.pointer, "fingerprint", hex,
			 "suppressed", f->suppressed != SUPPRESSED_NOT);
}

/* Checks request.object like the webhook, but also objects of kinds that the
 * webhook does not check. */
static void tell_findings(struct asking *asking, const char *name)
{
	struct arena arena = ARENA_INIT;
	enum tri secrets = TRI_UNKNOWN;
	struct judge_request what = {.policy = asking->policy,
				     .cluster = asking->cluster,
				     .secrets = &secrets,
				     .patch = true,
				     .now = (int64_t)time(NULL)};
	json_t *all = json_array();
	struct review review;
	struct judge judge;
	struct buf text;

	read_file(name, &asking->body);
	if (review_read(&arena, asking->body.data, asking->body.len, &review))
		fail(review.problem, name);
	judge_init(&judge, asking->rules);
	what.doc = &review.object;
	what.request = review.request;
	what.old_object = review.old.root;
	what.namespace = *review.namespace ? review.namespace : NULL;
	judge_object(&judge, &what);
	for (size_t i = 0; i < judge.n; i++)
		json_array_append_new(all, finding_json(&judge.findings[i]));
	buf_init(&text);
	if (judge.patched)
		node_json(judge.patched, &text);
	printf("{\"findings\":");
	json_dumpf(all, stdout, JSON_COMPACT);
	printf(",\"gpus\":%lld,\"patched\":%s}\n", (long long)judge.gpus,
	       judge.patched ? text.data : "null");
	json_decref(all);
	buf_release(&text);
	judge_release(&judge);
	arena_release(&arena);
}

static void ask(struct asking *asking, const char *name)
{
	struct admission_reply reply;
	double began;

	if (asking->findings) {
		tell_findings(asking, name);
		return;
	}
	read_file(name, &asking->body);
	began = cpu();
	for (long i = 0; i < asking->repeat; i++)
		admission_review(asking->worker, asking->path,
				 asking->body.data, asking->body.len, &reply);
	if (asking->repeat > 1)
		fprintf(stderr, "%s: %zu bytes, %.0f ns\n", name,
			asking->body.len,
			(cpu() - began) / (double)asking->repeat);
	printf("%s%.*s", reply.status == 200 ? "" : "error ", (int)reply.len,
	       reply.body);
	if (reply.status == 200)
		putchar('\n');
}

static void ask_list(struct asking *asking, const char *list)
{
	char line[4096];
	FILE *f = fopen(list, "r");

	if (!f)
		fail("cannot read", list);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		ask(asking, line);
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	struct rule_set set = {.items = all_rules, .n = all_rules_count};
	const char *policy = NULL, *preset = NULL;
	struct admission_options options = {
		.rules = &set,
		.metrics = metrics_new(),
		.log = log_new(STDERR_FILENO, LOG_ERROR, true),
	};
	struct admission *admission = admission_new(&options);
	struct asking asking = {.repeat = 1, .rules = &set};
	struct policy *in_force;
	int i = 1;

	for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--policy"))
			policy = argv[i + 1];
		else if (!strcmp(argv[i], "--preset"))
			preset = argv[i + 1];
		else if (!strcmp(argv[i], "--cluster"))
			asking.cluster = load_cluster(argv[i + 1]);
		else if (!strcmp(argv[i], "--repeat"))
			asking.repeat = atol(argv[i + 1]);
		else
			fail("unknown option", argv[i]);
	}
	if (i + 1 >= argc)
		fail("usage", "admission [OPTIONS] mutate|validate FILE...");
	asking.findings = !strcmp(argv[i], "findings");
	asking.path = strcmp(argv[i++], "mutate") ? ADMISSION_VALIDATE
						  : ADMISSION_MUTATE;
	in_force = load(&set, policy, preset);
	asking.policy = in_force;
	admission_set_policy(admission, in_force);
	admission_set_cluster(admission, cluster_get(asking.cluster));
	asking.worker = admission_worker_new(admission);
	buf_init(&asking.body);
	for (; i < argc; i++) {
		if (*argv[i] == '@')
			ask_list(&asking, argv[i] + 1);
		else
			ask(&asking, argv[i]);
	}
	buf_release(&asking.body);
	admission_worker_free(asking.worker);
	admission_free(admission);
	cluster_put(asking.cluster);
	metrics_free(options.metrics);
	log_free(options.log);
	return 0;
}
