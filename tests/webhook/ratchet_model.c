/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the webhook with a model of the findings that an UPDATE may keep.
 *
 * A small space of objects (a Pod, a Deployment, a PyTorchJob) with every way
 * to take uncounted devices is created and changed at random, under policies
 * that change as well, by users, controllers and holders of a ticket. The model
 * stores the devices that each object takes, where, and how often. From that
 * alone it computes the required denials:
 *
 *	no sequence of requests stores an object with devices for which a CREATE
 *	would be denied, except devices that the previous object had with the
 *	same values and as often, and for which it would itself be denied
 *
 * So that people keep the webhook enabled, nothing else may be denied.
 * Exceptions are those of webhook/README.md: a ticket, an object that is being
 * deleted, Pods that controllers make. Usage: ratchet_model STEPS [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/registry.h"
#include "ratchet_space.h"
#include "webhook/admission/admission.h"

enum { SLOTS = 12, TAKEN = 24 };

/* --- policies ------------------------------------------------------------- */

#define HEAD                                                                   \
	"apiVersion: gpugate.dev/v1\nkind: Policy\n"                           \
	"platform: {deviceInjection: envvar}\n"                                \
	"breakGlass: {groups: [oncall], annotation: t/glass}\n"
#define QUIET                                                                  \
	"gang: off, image: off, lifecycle: off, priority: off, quota: off, "   \
	"resources: off, scheduling: off, shm: off, input: off"

static const struct known_policy {
	const char *text;
	bool audit, all_of_dev, dev_audits, controllers;
} known_policies[] = {
	{HEAD "mode: audit\nrules: {" QUIET "}\n", true, false, false, false},
	{HEAD "rules: {" QUIET "}\n", false, false, false, false},
	{HEAD "controllerPods: deny\nrules: {" QUIET
	      ", nvidia-device-mount-bypass: {action: deny}}\n",
	 false, true, false, true},
	{HEAD "rules: {" QUIET "}\noverrides: [{namespaces: [ml], "
	      "labels: {tier: dev}, mode: audit}]\n",
	 false, false, true, false},
};

static const struct known_policy *in_force;

static void enforce(struct admission *admission, const struct rule_set *rules,
		    int which)
{
	const struct policy_text text = {"policy", known_policies[which].text,
					 strlen(known_policies[which].text)};
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy = policy_parse(rules, &text, &options, &problems);

	for (size_t i = 0; i < problems.n; i++)
		fprintf(stderr, "policy: %s\n", problems.items[i].text);
	if (!policy)
		exit(2);
	policy_problems_release(&problems);
	admission_set_policy(admission, policy);
	in_force = &known_policies[which];
}

/* --- devices that an object of the model takes ---------------------------- */

enum by { BY_ENV, BY_MOUNT, BY_NOTE, BY_PRIVILEGE };

struct taking {
	enum by by;
	int container, a, b, c;
};

struct takings {
	struct taking items[TAKEN];
	int n;
};

static void take(struct takings *out, struct taking one)
{
	if (out->n == TAKEN)
		abort();
	out->items[out->n++] = one;
}

static bool mount_takes(int path, int at)
{
	const char *name = paths[path];

	if (!strcmp(name, "/dev/null"))
		return at > 0;
	return !strncmp(name, "/dev/", 5) ||
	       (!strcmp(name, "/dev") && in_force->all_of_dev);
}

/* Returns true for debug containers, which request no resources. */
static bool debugs(const struct thing *t, int i)
{
	return t->form == POD && i == CONTAINERS - 1;
}

static bool asks(const struct thing *t, int i)
{
	return t->boxes[i].there && t->boxes[i].gpus > 0 && !debugs(t, i);
}

static int pod_gpus(const struct thing *t)
{
	int n = 0;

	for (int i = 0; i < CONTAINERS; i++)
		n += asks(t, i) ? t->boxes[i].gpus : 0;
	return n;
}

/* Returns true if the pod has one to three GPUs, so that other pods may use the
 * node. */
static bool shares_node(const struct thing *t)
{
	return pod_gpus(t) > 0 && pod_gpus(t) < 4;
}

/* Returns true if the container also requests a GPU: the message about its
 * variable then differs. */
static bool overrides(const struct thing *t, int i)
{
	return asks(t, i) && envs[t->boxes[i].env][0] != 'G';
}

/* All mounts of one volume in a container count as one, but those of /dev/null
 * in one place, because the message contains the place. */
static void mount_takings(const struct thing *t, int i, int volume,
			  struct takings *out)
{
	const struct box *box = &t->boxes[i];
	int path = t->volumes[volume], all = 0;
	bool apart = !strcmp(paths[path], "/dev/null");

	for (int at = 0; at < COUNT(ats); at++) {
		for (int m = 0; m < MOUNTS; m++)
			if (box->mounts[m].there &&
			    box->mounts[m].volume == volume &&
			    box->mounts[m].at == at && mount_takes(path, at))
				all += 1 << 4 * at;
		if (all && (apart || at == COUNT(ats) - 1)) {
			take(out,
			     (struct taking){BY_MOUNT, i, volume, path, all});
			all = 0;
		}
	}
}

static void box_takings(const struct thing *t, int i, struct takings *out)
{
	const struct box *box = &t->boxes[i];

	if (box->privileged && shares_node(t))
		take(out, (struct taking){BY_PRIVILEGE, i, asks(t, i), 0, 0});
	if (box->env > 1)
		take(out,
		     (struct taking){BY_ENV, i, box->env, overrides(t, i), 0});
	for (int volume = 0; volume < VOLUMES; volume++)
		mount_takings(t, i, volume, out);
}

/* Returns the devices for which a CREATE would be denied. */
static struct takings denied_to(const struct thing *t)
{
	struct takings out = {.n = 0};

	if (in_force->audit || (in_force->dev_audits && t->dev))
		return out;
	for (int i = 0; i < CONTAINERS; i++)
		if (t->boxes[i].there)
			box_takings(t, i, &out);
	if (t->note)
		take(&out,
		     (struct taking){BY_NOTE, -1, t->note, t->note_key, 0});
	return out;
}

static int pods_of(const struct thing *t)
{
	return t->form == POD ? 1 : t->replicas;
}

static int gpus_of(const struct thing *t)
{
	return pod_gpus(t) * pods_of(t);
}

static int how_often(const struct takings *in, const struct taking *one)
{
	int n = 0;

	for (int i = 0; i < in->n; i++)
		n += !memcmp(&in->items[i], one, sizeof(*one));
	return n;
}

static bool keeps_to(const struct thing *now, const struct thing *old)
{
	struct takings takes = denied_to(now), took = denied_to(old);

	for (int i = 0; i < takes.n; i++)
		if (!how_often(&took, &takes.items[i]) ||
		    pods_of(now) > pods_of(old))
			return false;
	return !takes.n ||
	       (gpus_of(now) <= gpus_of(old) && pod_gpus(now) <= pod_gpus(old));
}

struct request_context {
	const struct thing *now, *old; /* old: NULL for a CREATE */
	enum user user;
	const char *subresource;
};

/* --- the objects as JSON for the webhook ---------------------------------- */

static void write_mounts(struct buf *out, const struct box *box)
{
	const char *between = "";

	buf_adds(out, ",\"volumeMounts\":[");
	for (int i = 0; i < MOUNTS; i++) {
		if (!box->mounts[i].there)
			continue;
		buf_addf(out, "%s{\"name\":\"v%d\",\"mountPath\":\"%s\"}",
			 between, box->mounts[i].volume,
			 ats[box->mounts[i].at]);
		between = ",";
	}
	buf_adds(out, "]");
}

static void write_box(struct buf *out, const struct box *box, int i,
		      const char *between, bool debug)
{
	buf_addf(out, "%s{\"name\":\"c%d\",\"image\":\"r/run:1\"", between, i);
	if (!debug)
		buf_addf(out,
			 ",\"resources\":{\"limits\":{\"cpu\":\"1\","
			 "\"nvidia.com/gpu\":\"%d\"}}",
			 box->gpus);
	if (envs[box->env])
		buf_addf(out,
			 ",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\","
			 "\"value\":\"%s\"}]",
			 envs[box->env]);
	if (box->privileged)
		buf_adds(out, ",\"securityContext\":{\"privileged\":true}");
	write_mounts(out, box);
	buf_adds(out, "}");
}

static void write_spec(struct buf *out, const struct thing *t)
{
	const struct box *last = &t->boxes[CONTAINERS - 1];
	int listed = t->form == POD ? CONTAINERS - 1 : CONTAINERS;
	const char *between = "";

	buf_adds(out, "\"spec\":{\"volumes\":[");
	for (int i = 0; i < VOLUMES; i++)
		buf_addf(out,
			 "%s{\"name\":\"v%d\",\"hostPath\":{\"path\":\"%s\"}}",
			 i ? "," : "", i, paths[t->volumes[i]]);
	buf_adds(out, "],\"containers\":[");
	for (int i = 0; i < listed; i++) {
		if (!t->boxes[i].there)
			continue;
		write_box(out, &t->boxes[i], i, between, false);
		between = ",";
	}
	buf_adds(out, "]");
	if (listed < CONTAINERS && last->there) {
		buf_adds(out, ",\"ephemeralContainers\":[");
		write_box(out, last, CONTAINERS - 1, "", true);
		buf_adds(out, "]");
	}
	buf_adds(out, "}");
}

/* Writes annotations of pods; the ticket belongs to the object. */
static void write_notes(struct buf *out, const struct thing *t, bool ticket)
{
	buf_adds(out, "\"annotations\":{");
	if (t->note)
		buf_addf(out, "\"%s\":\"%s\"%s", note_keys[t->note_key],
			 notes[t->note], ticket ? "," : "");
	if (ticket)
		buf_adds(out, "\"t/glass\":\"INC-1\"");
	buf_adds(out, "}");
}

static void write_metadata(struct buf *out, const struct thing *t)
{
	buf_addf(out,
		 "\"metadata\":{\"name\":\"a\",\"namespace\":\"ml\","
		 "\"labels\":{\"n\":\"%d\",\"tier\":\"%s\"}",
		 t->label, t->dev ? "dev" : "prod");
	if (t->owned)
		buf_adds(out,
			 ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
			 "\"kind\":\"ReplicaSet\",\"name\":\"o\",\"uid\":\"1\","
			 "\"controller\":true}]");
	if (t->leaving)
		buf_adds(out,
			 ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
	buf_adds(out, ",");
	if (t->form == POD)
		write_notes(out, t, t->ticket);
	else
		buf_addf(out, "\"annotations\":{%s}",
			 t->ticket ? "\"t/glass\":\"INC-1\"" : "");
	buf_adds(out, "}");
}

static const struct {
	const char *group, *kind, *open, *close;
} kinds[] = {
	[POD] = {"", "Pod", "", ""},
	[DEPLOYMENT] = {"apps", "Deployment", "", "}}"},
	[PYTORCHJOB] = {"kubeflow.org", "PyTorchJob",
			"\"pytorchReplicaSpecs\":{\"Worker\":{", "}}}}"},
};

static void write_thing(struct buf *out, const struct thing *t)
{
	const char *group = kinds[t->form].group;

	buf_addf(out, "{\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",", group,
		 *group ? "/" : "", kinds[t->form].kind);
	write_metadata(out, t);
	buf_adds(out, ",");
	if (t->form != POD) {
		buf_addf(out,
			 "\"spec\":{%s\"replicas\":%d,\"template\":{"
			 "\"metadata\":{",
			 kinds[t->form].open, t->replicas);
		write_notes(out, t, false);
		buf_adds(out, "},");
	}
	write_spec(out, t);
	buf_addf(out, "%s}", kinds[t->form].close);
}

/* --- exceptions ----------------------------------------------------------- */

static struct thing without_metadata(const struct thing *t)
{
	struct thing bare = *t;

	bare.label = 0;
	bare.dev = bare.ticket = bare.owned = bare.leaving = false;
	if (bare.form == POD)
		bare.note = bare.note_key = 0;
	return bare;
}

static bool has_same_spec(const struct thing *now, const struct thing *old)
{
	const struct thing a = without_metadata(now), b = without_metadata(old);
	struct buf x, y;
	bool same;

	buf_init(&x);
	buf_init(&y);
	write_thing(&x, &a);
	write_thing(&y, &b);
	same = !strcmp(x.data, y.data);
	buf_release(&x);
	buf_release(&y);
	return same;
}

static bool is_excepted(const struct request_context *r)
{
	if (r->user == ONCALL && r->now->ticket)
		return true;
	if (r->user == CONTROLLER && !in_force->controllers &&
	    (r->now->owned || (r->old && r->now->form == POD)))
		return true;
	return r->old && r->old->leaving && has_same_spec(r->now, r->old);
}

static bool must_allow(const struct request_context *r)
{
	if (is_excepted(r))
		return true;
	return r->old ? keeps_to(r->now, r->old) : !denied_to(r->now).n;
}

static void write_review(struct buf *out, const struct request_context *r)
{
	static const char *const users[] = {
		[ALICE] = "\"username\":\"alice\",\"groups\":[\"staff\"]",
		[ONCALL] = "\"username\":\"bob\",\"groups\":[\"oncall\"]",
		[CONTROLLER] = ("\"username\":\"system:serviceaccount:"
				"kube-system:replicaset-controller\""),
	};

	buf_reset(out);
	buf_addf(out,
		 "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
		 "\"AdmissionReview\",\"request\":{\"uid\":\"u\",\"kind\":{"
		 "\"group\":\"%s\",\"version\":\"v1\",\"kind\":\"%s\"},"
		 "\"name\":\"a\",\"namespace\":\"ml\",\"operation\":\"%s\","
		 "\"subResource\":\"%s\",\"userInfo\":{%s},\"object\":",
		 kinds[r->now->form].group, kinds[r->now->form].kind,
		 r->old ? "UPDATE" : "CREATE", r->subresource, users[r->user]);
	write_thing(out, r->now);
	buf_adds(out, ",\"oldObject\":");
	if (r->old)
		write_thing(out, r->old);
	else
		buf_adds(out, "null");
	buf_adds(out, "}}");
}

/* --- steps ---------------------------------------------------------------- */

static struct thing slots[SLOTS];
static bool stored[SLOTS];
static long allowed, denied, kept, excepted;

static void make_request(struct request_context *r, struct thing *now, int slot)
{
	static const char *const subresources[] = {
		"", "", "", "ephemeralcontainers", "resize"};

	*r = (struct request_context){.now = now, .subresource = ""};
	r->user = any(3) ? ALICE : (enum user)any(USERS);
	if (!stored[slot]) {
		any_thing(now);
		now->leaving = !any(20);
		return;
	}
	*now = slots[slot];
	r->old = &slots[slot];
	for (int n = any(3) + !any(40); n >= 0; n--)
		change(now);
	/* A user or the API server may set deletionTimestamp. */
	now->leaving |= !any(20);
	if (now->form == POD)
		r->subresource = subresources[any(COUNT(subresources))];
}

static void count(const struct request_context *r, bool allow)
{
	allowed += allow;
	denied += !allow;
	excepted += allow && is_excepted(r);
	kept += allow && r->old && !is_excepted(r) && denied_to(r->now).n;
}

/* Returns false, after printing the difference, if the webhook does not do what
 * the model requires. */
static bool step(struct admission_worker *worker, struct buf *body)
{
	int slot = any(SLOTS);
	struct admission_reply reply;
	struct request_context r;
	struct thing now;
	bool allow;

	stored[slot] &= any(60) != 0;
	make_request(&r, &now, slot);
	write_review(body, &r);
	admission_review(worker, ADMISSION_VALIDATE, body->data, body->len,
			 &reply);
	allow = memmem(reply.body, reply.len, "\"allowed\":true", 14);
	if (reply.status != 200 || allow != must_allow(&r)) {
		printf("must be %s under\n%s\nreview: %.*s\nanswer: %.*s\n",
		       must_allow(&r) ? "allowed" : "denied", in_force->text,
		       (int)body->len, body->data, (int)reply.len, reply.body);
		return false;
	}
	count(&r, allow);
	if (!allow)
		return true;
	slots[slot] = now;
	slots[slot].leaving = !any(80);
	stored[slot] = true;
	return true;
}

int main(int argc, char **argv)
{
	struct rule_set set = {.items = all_rules, .n = all_rules_count};
	struct admission_options options = {
		.rules = &set,
		.metrics = metrics_new(),
		.log = log_new(2, LOG_ERROR, true),
	};
	long steps = argc > 1 ? atol(argv[1]) : 0;
	struct admission *admission = admission_new(&options);
	struct admission_worker *worker;
	struct buf body;
	bool good = steps > 0;

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	enforce(admission, &set, 0);
	worker = admission_worker_new(admission);
	buf_init(&body);
	for (long i = 0; good && i < steps; i++) {
		if (!any(50))
			enforce(admission, &set, any(COUNT(known_policies)));
		good = step(worker, &body);
	}
	printf("%ld steps: %ld allowed (%ld by an exception, %ld keep what "
	       "a CREATE is denied), %ld denied\n",
	       steps, allowed, excepted, kept, denied);
	/* The test fails if the model rarely reaches the relevant cases. */
	good &= kept > steps / 100 && denied > steps / 10;
	printf("ratchet model: %d passed, %d failed\n", good, !good);
	buf_release(&body);
	admission_worker_free(worker);
	admission_free(admission);
	log_free(options.log);
	metrics_free(options.metrics);
	return !good;
}
