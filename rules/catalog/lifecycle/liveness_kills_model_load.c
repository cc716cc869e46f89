/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports liveness probes that fail before the model is loaded. A model server
 * answers its probes only after it has loaded the weights. If the liveness
 * probe fails before, the container is restarted and loading starts again, so
 * that the server never becomes ready. A startupProbe delays liveness checks;
 * if it ends before (aibrix#1054), the finding is an info.
 * The loading time is an estimate: 600 s, less if the name of the model
 * contains a small size, or Triton has no backend for language models. Skips
 * exec probes, which may succeed before, Knative, which has its own deadline,
 * and KServe's presets, which have a startupProbe. Also skips programs that
 * load models only on request, such as Ollama. If nothing shows that the
 * container loads a model, the finding is an info. Source: kserve#5062 and
 * #5063 (120 s and 300 s were too short; now a startupProbe of 60 x 10 s), vllm
 * production-stack#688, aibrix#772.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/server.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

static bool is_known(const struct node *node)
{
	if (node_is_unknown(node))
		return false;
	FOR_EACH_CHILD(node, child)
		if (!is_known(child))
			return false;
	return true;
}

/* Returns a startup probe with the same handler that fails after `budget`
 * seconds; NULL if the handler is unknown or a command. */
static struct node *probe_startup(struct arena *arena,
				  const struct container_probe *liveness,
				  int64_t budget)
{
	static const char *const kept[] = {"httpGet", "tcpSocket", "grpc",
					   "timeoutSeconds", NULL};
	struct node *startup = edit_map(arena);
	bool handler = false;

	for (const char *const *key = kept; *key; key++) {
		const struct node *value = node_get(liveness->node, *key);

		if (value && !is_known(value))
			return NULL;
		if (node_is_unset(value))
			continue;
		edit_member(arena, startup, *key, edit_copy(arena, value));
		handler |= strcmp(*key, "timeoutSeconds") != 0;
	}
	if (!handler)
		return NULL;
	edit_member(arena, startup, "periodSeconds", edit_int(arena, 10));
	return edit_member(arena, startup, "failureThreshold",
			   edit_int(arena, (budget + 9) / 10));
}

/* True for Triton without the backends of language models. */
static bool is_plain_triton(const struct container *c)
{
	return text_contains(c->image, "tritonserver") &&
	       !text_contains(c->image, "llm");
}

/* Returns the seconds to load the container's model, whose size is in 0.1
 * billion parameters; 0 means unknown. */
static int64_t load_time(struct rule_run *run, const struct container *c)
{
	int64_t whole = rule_param_int(run, "budget");
	int64_t size = container_model_size(c);

	if (size && size <= 30)
		return whole / 5;
	if (size ? size <= 150 : is_plain_triton(c))
		return whole / 2;
	return whole;
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c,
		   const struct container_probe *liveness)
{
	struct node *startup = probe_startup(rule_arena(run), liveness,
					     rule_param_int(run, "budget"));

	if (startup)
		fix_set(finding_fix(
				run, f, false, "add a startupProbe (%s min)",
				rule_number(run, rule_param_int(run, "budget") /
							 60)),
			c->node, "startupProbe", startup);
}

static struct finding *report(struct rule_run *run, const struct container *c,
			      const struct container_probe *liveness,
			      int64_t need, enum tri loads)
{
	int64_t budget = probe_budget(liveness);
	struct finding *f;

	if (loads == TRI_YES)
		return report_container(
			run, c, liveness->node,
			"the liveness probe of `%s` fails after %s s; loading a model takes up to %s s",
			container_title(c), rule_number(run, budget),
			rule_number(run, need));
	f = report_container(
		run, c, liveness->node,
		"the liveness probe of `%s` fails after %s s; if it loads a model before it answers, that may take up to %s s",
		container_title(c), rule_number(run, budget),
		rule_number(run, need));
	finding_severity(f, SEVERITY_INFO);
	return f;
}

/* Reports a startup probe that ends before the model is loaded, as an info,
 * because the author may have measured the time. */
static void check_startup(struct rule_run *run, const struct container *c,
			  const struct container_probe *startup)
{
	const struct argv argv = container_argv(c);
	int64_t need = load_time(run, c);
	int64_t budget = probe_budget(startup);
	struct finding *f;

	if (startup->unknown || startup->exec || budget >= need ||
	    container_loads_model(&argv, c) != TRI_YES)
		return;
	f = report_container(
		run, c, startup->node,
		"the startup probe of `%s` fails after %s s: if loading the model takes longer, up to %s s, the server never starts",
		container_title(c), rule_number(run, budget),
		rule_number(run, need));
	finding_severity(f, SEVERITY_INFO);
	finding_help(run, f, "Raise `failureThreshold` of the startupProbe.");
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct container_probe liveness, startup;
	struct finding *f;
	int64_t need;
	struct argv argv;
	enum tri loads;

	if (container_probe(c, "startupProbe", &startup)) {
		check_startup(run, c, &startup);
		return;
	}
	if (!container_probe(c, "livenessProbe", &liveness) ||
	    liveness.unknown || liveness.exec)
		return;
	argv = container_argv(c);
	loads = container_loads_model(&argv, c);
	if (loads == TRI_NO)
		return;
	need = load_time(run, c);
	if (probe_budget(&liveness) >= need)
		return;
	f = report(run, c, &liveness, need, loads);
	finding_help(
		run, f,
		"Add a startupProbe with the same handler, `periodSeconds: 10` and `failureThreshold: %s`.",
		rule_number(run, (rule_param_int(run, "budget") + 9) / 10));
	repair(run, f, c, &liveness);
}

/* True for an InferenceService that asks for Knative, by its mode or by
 * settings of Knative's autoscaler. */
static bool is_knative(const struct object *object)
{
	const struct node *mode =
		object_annotation(object, "serving.kserve.io/deploymentMode");

	FOR_EACH_CHILD(object->annotations, value)
		if (text_starts(value->key, "autoscaling.knative.dev/"))
			return true;
	return node_eq(mode, "Serverless") || node_eq(mode, "Knative");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!pod_is_serving(pod) || pod_handling(pod)->bounds_start ||
	    is_knative(pod->object))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role != CONTAINER_INIT &&
		    container_uses_gpu(c) == TRI_YES && !container_is_merged(c))
			check_container(run, c);
}

static const struct rule_param params[] = {
	{"budget", "int", "600", "seconds that loading a large model may take"},
	{0},
};

/* A startupProbe for the same wrong port would fail as well. */
static const char *const yields_to[] = {"server-port-mismatch", NULL};

const struct rule rule_liveness_kills_model_load = {
	.name = "liveness-kills-model-load",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_GUESS | RULE_OPT_IN_PATCH,
	.scope = PODSPEC,
	.summary =
		"a model server's liveness or startup probe may fail before the weights are loaded",
	.why = "If loading takes longer than the probe allows, the kubelet kills the container again and again, so the server never starts. The finding is an info if nothing shows that the container loads a model, or if a startup probe sets the time.",
	.remedy =
		"Add a startupProbe with the handler of the liveness probe, periodSeconds 10 and failureThreshold 60.",
	.evidence =
		"https://github.com/kserve/kserve/issues/5062, https://github.com/kserve/kserve/issues/5063; https://github.com/vllm-project/production-stack/issues/688; https://github.com/vllm-project/aibrix/issues/772",
	.yields_to = yields_to,
	.params = params,
	.check_pod = check,
};
