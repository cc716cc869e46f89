/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects made to keep the webhook busy until the API server admits them
 * without an answer: just below the limits, each must be checked in a fraction
 * of the webhook's timeout. The processor time is printed, and compared with
 * the strict limit only with TIMES=strict (check-load), which needs a fast
 * machine and build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost_fixture.h"
#include "engine/registry.h"
#include "review_fixture.h"

enum {
	LIMIT_MS = 1000,
	MOST_MS = 10000, /* limit with sanitizers */
};

#define GPU "resources: {limits: {nvidia.com/gpu: 1}}"

static int setup(void **state)
{
	static struct stage s;

	stage_begin(&s, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR,
		    false);
	admission_set_policy(s.admission, policy_default(&s.rules, "strict"));
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	stage_end(s);
	return 0;
}

/* --- shapes --------------------------------------------------------------- */

static void add_each(struct buf *out, unsigned n,
		     void (*add)(struct buf *out, unsigned i))
{
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		add(out, i);
	}
}

static void container(struct buf *out, unsigned i)
{
	buf_addf(out, "{name: c%u, image: i:1, command: [torchrun], " GPU "}",
		 i);
}

/* Writes a Pod of n containers with this ignore annotation (NULL: none). */
static void pod(struct buf *out, const char *annotation, unsigned n,
		void (*write)(struct buf *out, unsigned i))
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a");
	if (annotation)
		buf_addf(out,
			 ", annotations: {gpugate.dev/ignore: '%s', "
			 "gpugate.dev/ignore-reason: r}",
			 annotation);
	buf_adds(out, "}, spec: {containers: [");
	add_each(out, n, write);
	buf_adds(out, "]}}");
}

/* Writes a PyTorchJob of n roles. */
static void job(struct buf *out, unsigned n,
		void (*write)(struct buf *out, unsigned i))
{
	buf_adds(out, "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, "
		      "metadata: {name: a}, spec: {pytorchReplicaSpecs: {");
	add_each(out, n, write);
	buf_adds(out, "}}}");
}

static void many_containers(struct buf *out)
{
	pod(out, NULL, 1400, container);
}

static void role(struct buf *out, unsigned i)
{
	buf_addf(out, "W%u: {replicas: 3, template: {spec: {containers: [", i);
	add_each(out, 130, container);
	buf_adds(out, "]}}}");
}

static void roles_of_containers(struct buf *out)
{
	job(out, 15, role);
}

static void variable(struct buf *out, unsigned i)
{
	(void)i;
	buf_adds(out, "{name: NVIDIA_VISIBLE_DEVICES, value: all}");
}

static void with_variables(struct buf *out, unsigned i)
{
	buf_addf(out, "{name: c%u, image: i:1, " GPU ", env: [", i);
	add_each(out, 100, variable);
	buf_adds(out, "]}");
}

static void findings_by_the_thousand(struct buf *out)
{
	pod(out, NULL, 200, with_variables);
}

static void words(struct buf *out)
{
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 130000; i++)
		buf_adds(&text, "a,");
	pod(out, text.data, 1400, container);
	buf_release(&text);
}

static void template_with_ignore(struct buf *out, unsigned i)
{
	buf_addf(out,
		 "W%u: {template: {metadata: {annotations: {"
		 "gpugate.dev/ignore: shm-missing}}, spec: {containers: [",
		 i);
	container(out, 0);
	buf_adds(out, "]}}}");
}

static void ignores(struct buf *out)
{
	job(out, 700, template_with_ignore);
}

static void patched_container(struct buf *out, unsigned i)
{
	buf_addf(out, "{name: c%u}", i);
}

static void patched_template(struct buf *out, unsigned i)
{
	buf_addf(out,
		 "{name: t%u, podSpecPatch: '{}', container: {image: i:1}}", i);
}

/* Writes templates that share a long patch; each also has its own patch before
 * and after it. */
static void patches(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {"
		      "podSpecPatch: '{containers: [");
	add_each(out, 9000, patched_container);
	buf_adds(out, "]}', templates: [");
	add_each(out, 1400, patched_template);
	buf_adds(out, "]}}");
}

static void spark_amount(struct buf *out, unsigned i)
{
	buf_addf(out, "spark.executor.resource.gpu%u.amount: '1'", i);
}

static void properties(struct buf *out)
{
	buf_adds(out, "{apiVersion: sparkoperator.k8s.io/v1beta2, "
		      "kind: SparkApplication, metadata: {name: a}, "
		      "spec: {executor: {instances: 1}, sparkConf: {");
	add_each(out, 5000, spark_amount);
	buf_adds(out, "}}}");
}

/* Writes different names that resemble those of devices. */
static void resources(struct buf *out, unsigned i)
{
	buf_addf(out, "{name: c%u, image: i:1, resources: {limits: {", i);
	for (unsigned j = 0; j < 60; j++)
		buf_addf(out, "nv%u.cor/g%u: '1', ", 100 + i, j);
	buf_adds(out, "nvidia.com/gpu: '1'}}}");
}

static void many_resources(struct buf *out)
{
	pod(out, NULL, 300, resources);
}

/* Writes a Pod whose script repeats one text. */
static void script(struct buf *out, const char *text, size_t size)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [{name: c, image: i:1, " GPU
		      ", command: [sh, -c, '");
	for (size_t i = 0; i < size / strlen(text); i++)
		buf_adds(out, text);
	buf_adds(out, "']}]}}");
}

static void launchers(struct buf *out)
{
	script(out, "a=$b; torchrun --nproc-per-node=$a x; ", 500000);
}

static void variables_of_a_launcher(struct buf *out)
{
	script(out, "torchrun a=$a b=1 $b ", 350000);
}

static void dashes(struct buf *out)
{
	script(out, "-", 1000000);
}

static void signatures(struct buf *out)
{
	script(out, "?sig=", 1000000);
}

static void logins(struct buf *out)
{
	script(out, "wandblogin", 1000000);
}

static void hooks(struct buf *out)
{
	script(out, "https://hooks.slack.com/a", 1000000);
}

static void databases(struct buf *out)
{
	script(out, "a:@tcp(", 300000);
}

static void names_of_secrets(struct buf *out)
{
	script(out, "HF_TOKEN:|", 400000);
}

/* Writes a variable with 350,000 indices, all of which are in the message of
 * one finding. */
static void indices(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [{name: c, image: i:1, " GPU
		      ", env: [{name: NVIDIA_VISIBLE_DEVICES, value: '");
	for (unsigned i = 0; i < 350000; i++)
		buf_addf(out, "%u,", i);
	buf_adds(out, "'}]}]}}");
}

static void unknown_pod(struct buf *out, unsigned i)
{
	buf_addf(out, "t%u: {spec: {containers: [", i);
	container(out, 0);
	buf_adds(out, "]}}");
}

/* Writes pods of an unknown kind; for each, rules need a fact that depends on
 * all of them. */
static void unknown_pods(struct buf *out)
{
	buf_adds(out, "{apiVersion: a.b/v1, kind: Any, metadata: {name: a}, "
		      "spec: {");
	add_each(out, 1400, unknown_pod);
	buf_adds(out, "}}");
}

static void job_of_gpus(struct buf *out)
{
	buf_adds(out, "{apiVersion: batch/v1, kind: Job, "
		      "metadata: {name: a}, spec: {template: {spec: "
		      "{containers: [");
	container(out, 0);
	buf_adds(out, "]}}}}");
}

/* Writes Jobs in 90 nested Lists; each has fixes. */
static void deep_lists(struct buf *out)
{
	for (unsigned i = 0; i < 90; i++)
		buf_adds(out, "{apiVersion: v1, kind: List, items: [");
	for (unsigned i = 0; i < 1000; i++) {
		buf_adds(out, i ? "," : "");
		job_of_gpus(out);
	}
	for (unsigned i = 0; i < 90; i++)
		buf_adds(out, "]}");
}

static const struct {
	const char *what;
	void (*write)(struct buf *out);
} shapes[] = {
	{"indices of devices", indices},
	{"pods of an unknown kind", unknown_pods},
	{"launchers in a script", launchers},
	{"variables of a launcher", variables_of_a_launcher},
	{"dashes", dashes},
	{"signatures", signatures},
	{"logins", logins},
	{"web hooks", hooks},
	{"data source names", databases},
	{"names of secrets", names_of_secrets},
	{"containers", many_containers},
	{"roles of containers", roles_of_containers},
	{"words of an ignore", words},
	{"ignores of templates", ignores},
	{"properties", properties},
	{"resources of many names", many_resources},
};

/* --- manifests in strings ------------------------------------------------- */

/* Writes a Workflow of n templates with this manifest. */
static void workflow(struct buf *out, unsigned n, const char *manifest)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {templates: [");
	for (unsigned i = 0; i < n; i++)
		buf_addf(out,
			 "%s{name: t%u, resource: {action: create, manifest: "
			 "\"apiVersion: v1\\nkind: Pod\\n%s\"}}",
			 i ? ", " : "", i, manifest);
	buf_adds(out, "]}}");
}

static void repeat(struct buf *out, const char *text, unsigned n)
{
	while (n--)
		buf_adds(out, text);
}

static void brackets(struct buf *out)
{
	struct buf text;

	buf_init(&text);
	buf_adds(&text, "spec: [");
	for (unsigned i = 0; i < 22; i++) {
		repeat(&text, "[", 300);
		repeat(&text, "]", 300);
		buf_adds(&text, ", ");
	}
	buf_adds(&text, "]");
	workflow(out, 95, text.data);
	buf_release(&text);
}

static void one_list(struct buf *out)
{
	struct buf text;

	buf_init(&text);
	buf_adds(&text, "spec: [");
	repeat(&text, "a,", 1300000);
	buf_adds(&text, "a]");
	workflow(out, 1, text.data);
	buf_release(&text);
}

static void repeat_documents(struct buf *out, const char *document, unsigned n)
{
	struct buf text;

	buf_init(&text);
	repeat(&text, document, n);
	workflow(out, 1, text.data);
	buf_release(&text);
}

static void documents(struct buf *out)
{
	repeat_documents(out, "\\n---\\napiVersion: v1\\nkind: Pod", 20000);
}

/* Writes documents that the fast reader leaves to libyaml. */
static void slow_documents(struct buf *out)
{
	repeat_documents(out, "\\n---\\n!!str a", 30000);
}

static void patches_of_brackets(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {templates: [");
	for (unsigned i = 0; i < 95; i++) {
		buf_addf(out,
			 "%s{name: t%u, container: {image: a}, "
			 "podSpecPatch: 'a: [",
			 i ? ", " : "", i);
		for (unsigned j = 0; j < 22; j++) {
			repeat(out, "[", 300);
			repeat(out, "]", 300);
			buf_adds(out, ", ");
		}
		buf_adds(out, "]'}");
	}
	buf_adds(out, "]}}");
}

static void nested_objects(struct buf *out)
{
	buf_adds(out, "{apiVersion: workload.codeflare.dev/v1beta2, "
		      "kind: AppWrapper, metadata: {name: a}, "
		      "spec: {components: [");
	for (unsigned i = 0; i < 100; i++) {
		buf_adds(out, i ? ", " : "");
		buf_adds(out, "{template: {apiVersion: "
			      "workload.codeflare.dev/v1beta2, "
			      "kind: AppWrapper, spec: {components: [");
		for (unsigned j = 0; j < 100; j++)
			buf_addf(out,
				 "%s{template: {apiVersion: v1, "
				 "kind: Pod}}",
				 j ? ", " : "");
		buf_adds(out, "]}}}");
	}
	buf_adds(out, "]}}");
}

/* Writes manifests in which each key is a finding, because its value is
 * missing. */
static void keys(struct buf *out)
{
	struct buf text;

	buf_init(&text);
	buf_adds(&text, "spec: {");
	repeat(&text, "a,", 600);
	workflow(out, 1000, text.data);
	buf_release(&text);
}

/* Writes templates that each have a long script. */
static void scripts(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {templates: [");
	for (unsigned i = 0; i < 1400; i++) {
		buf_addf(out,
			 "%s{name: t%u, container: {image: a, command: "
			 "[sh, -c, '",
			 i ? ", " : "", i);
		repeat(out, "a ", 900);
		buf_adds(out, "']}}");
	}
	buf_adds(out, "]}}");
}

static const struct {
	const char *what;
	void (*write)(struct buf *out);
} beyond[] = {
	{"findings", findings_by_the_thousand},
	{"patches in strings", patches},
	{"jobs in deep lists", deep_lists},
	{"keys of a manifest", keys},
	{"scripts", scripts},
	{"brackets in manifests", brackets},
	{"a list in a manifest", one_list},
	{"documents of a manifest", documents},
	{"documents that libyaml reads", slow_documents},
	{"brackets in patches", patches_of_brackets},
	{"objects in objects", nested_objects},
};

/* --- tests ---------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_MB = 4000 };
#else
enum { MEMORY_MB = 90 };
#endif

static void judge(struct stage *s, enum admission_path path,
		  const struct buf *body, bool refused)
{
	const char *strict = getenv("TIMES");
	struct admission_reply reply;
	int64_t began;

	began = cpu_ms();
	admission_review(s->worker, path, body->data, body->len, &reply);
	began = cpu_ms() - began;
	print_message("    %s: %d ms for %zu kB, %ld MB\n",
		      path == ADMISSION_MUTATE ? "mutate" : "validate",
		      (int)began, body->len / 1000, memory_mb());
	assert_true(memory_mb() < MEMORY_MB);
	assert_int_equal(reply.status, 200);
	assert_int_equal(memmem(reply.body, reply.len, "invalid-syntax", 14) !=
				 NULL,
			 refused);
	assert_true(began <
		    (strict && !strcmp(strict, "strict") ? LIMIT_MS : MOST_MS));
}

static void pose(struct stage *s, const char *operation, const char *kind,
		 void (*write)(struct buf *out), bool refused)
{
	struct buf request, body;

	buf_init(&request);
	buf_init(&body);
	buf_addf(&request,
		 "operation: %s, kind: {kind: %s}, namespace: ml, object: ",
		 operation, kind);
	write(&request);
	if (!strcmp(operation, "UPDATE")) {
		buf_adds(&request, ", oldObject: ");
		write(&request);
	}
	review_json(&body, request.data);
	judge(s, ADMISSION_VALIDATE, &body, refused);
	if (!refused) /* /mutate omits findings that it does not patch */
		judge(s, ADMISSION_MUTATE, &body, false);
	buf_release(&body);
	buf_release(&request);
}

/* The budget is shared by all texts, however many there are. */
static void costly_texts_are_refused(void **state)
{
	for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		print_message("  %s\n", beyond[i].what);
		pose(*state, "CREATE", "Workflow", beyond[i].write, true);
		pose(*state, "UPDATE", "Workflow", beyond[i].write, true);
	}
}

static void fixed(struct buf *out)
{
	workflow(out, 3, "spec: [[a], [b]]");
	buf_adds(out, ", oldObject: ");
	brackets(out);
}

/* The cost of the old object does not count against the new one. */
static void a_costly_object_can_be_corrected(void **state)
{
	pose(*state, "UPDATE, dryRun: false", "Workflow", fixed, false);
}

static void hostile_objects_are_judged(void **state)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		print_message("  %s\n", shapes[i].what);
		pose(*state, "CREATE", "Pod", shapes[i].write, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hostile_objects_are_judged,
						setup, teardown),
		cmocka_unit_test_setup_teardown(costly_texts_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_costly_object_can_be_corrected, setup, teardown),
	};

	return cmocka_run_group_tests_name("door_hostile", tests, NULL, NULL);
}
