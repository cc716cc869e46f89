/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a cluster that its software shows: the way in which devices are
 * passed to containers, and the versions of Karpenter and of operators.
 */
#include "cluster_fixture.h"
#include "kube/platform.h"

#define DAEMON_SET(ns, pod)                                                    \
	"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: plugin, "     \
	"namespace: " ns "}, spec: {template: {spec: {" pod "}}}}"
#define PLUGIN(rest)                                                           \
	DAEMON_SET("a", "containers: [{name: config, env: [{name: "            \
			"DEVICE_LIST_STRATEGY, value: x}]}, {name: "           \
			"nvidia-device-plugin-ctr, " rest "}]")
#define NAMED(rest)                                                            \
	DAEMON_SET("a", "runtimeClassName: nvidia, containers: [{name: "       \
			"nvidia-device-plugin, " rest "}]")
#define ENV(value) "env: [{name: DEVICE_LIST_STRATEGY, value: '" value "'}]"
#define CLUSTER_POLICY                                                         \
	"{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {name: "   \
	"p}, spec: {cdi: {enabled: false}}}"
#define KARPENTER(ns, image)                                                   \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: karpenter, " \
	"namespace: " ns "}, spec: {template: {spec: {containers: [{name: "    \
	"controller, image: '" image "'}]}}}}"
#define AWS "public.ecr.aws/karpenter/controller"

static struct cluster *cluster_of(const char *const *objects)
{
	struct cluster_builder *b = cluster_builder_new();
	struct cluster *c;

	for (; *objects; objects++)
		assert_true(add_object(b, *objects) >= 0);
	c = cluster_builder_finish(b, 100);
	cluster_builder_free(b);
	return c;
}

/* Writes the state to a file and reads it again. */
static struct cluster *reread(const struct cluster *c)
{
	struct cluster_text text = {.name = "state"};
	struct err err = {0};
	struct cluster *again;
	char *written = NULL;
	FILE *out = open_memstream(&written, &text.len);

	cluster_write(c, out);
	fclose(out);
	text.text = written;
	assert_null(strstr(written, "secret"));
	again = cluster_parse(&text, NULL, NULL, &err);
	if (!again)
		fail_msg("%s", err.text);
	free(written);
	return again;
}

static const struct {
	const char *objects[4];
	enum device_injection want;
} injections[] = {
	{{NULL}, INJECTION_UNKNOWN},
	{{PLUGIN("env: []")}, INJECTION_ENVVAR},
	{{PLUGIN("env: [{name: TOKEN, value: secret}]")}, INJECTION_ENVVAR},
	{{PLUGIN(ENV("envvar"))}, INJECTION_ENVVAR},
	{{PLUGIN(ENV("volume-mounts"))}, INJECTION_VOLUME_MOUNTS},
	{{PLUGIN(ENV("envvar") ", args: [--device-list-strategy, "
			       "volume-mounts]")},
	 INJECTION_VOLUME_MOUNTS},
	{{PLUGIN("args: [--device-list-strategy=volume-mounts]")},
	 INJECTION_VOLUME_MOUNTS},
	{{PLUGIN("command: [sh, -c, 'nvidia-device-plugin "
		 "--device-list-strategy=volume-mounts']")},
	 INJECTION_UNKNOWN},
	{{PLUGIN("env: [{name: CONFIG_FILE, value: /config/config.yaml}]")},
	 INJECTION_UNKNOWN},
	{{PLUGIN("args: [--config-file=/config/config.yaml]")},
	 INJECTION_UNKNOWN},
	{{PLUGIN("envFrom: [{configMapRef: {name: c}}]")}, INJECTION_UNKNOWN},
	{{PLUGIN("env: [{name: DEVICE_LIST_STRATEGY, valueFrom: "
		 "{configMapKeyRef: {name: c, key: k}}}]")},
	 INJECTION_UNKNOWN},
	/* The default runtime is NVIDIA's, which also reads the variable. */
	{{PLUGIN(ENV("cdi-cri"))}, INJECTION_UNKNOWN},
	{{NAMED(ENV("cdi-annotations,cdi-cri"))}, INJECTION_CDI},
	/* The default runtime may be another one. */
	{{NAMED(ENV("envvar"))}, INJECTION_UNKNOWN},
	{{NAMED(ENV("envvar")), CLUSTER_POLICY}, INJECTION_ENVVAR},
	{{NAMED(ENV("cdi-cri")), CLUSTER_POLICY}, INJECTION_CDI},
	{{PLUGIN("env: []"),
	  DAEMON_SET("b", "containers: [{name: nvidia-device-plugin-ctr}]")},
	 INJECTION_ENVVAR},
	{{PLUGIN("env: []"),
	  DAEMON_SET("b", "containers: [{name: nvidia-device-plugin-ctr, "
			  "args: [--config-file=c]}]")},
	 INJECTION_UNKNOWN},
	{{DAEMON_SET("a", "containers: [{name: nvidia-gpu-device-plugin}]")},
	 INJECTION_UNKNOWN},
	/* The container no longer belongs to the plugin. */
	{{PLUGIN("env: []"), DAEMON_SET("a", "containers: [{name: x}]")},
	 INJECTION_UNKNOWN},
};

static void the_device_plugin_shows_the_injection(void **state)
{
	for (size_t i = 0; i < sizeof(injections) / sizeof(*injections); i++) {
		struct cluster *c = cluster_of(injections[i].objects);
		struct cluster *again = reread(c);
		struct arena arena = ARENA_INIT;
		enum device_injection got = cluster_injection(c, &arena);

		if (got != injections[i].want)
			fail_msg("row %zu: %d", i, got);
		if (got != cluster_injection(again, &arena))
			fail_msg("row %zu: otherwise from a file", i);
		arena_release(&arena);
		cluster_put(c);
		cluster_put(again);
	}
}

static const struct {
	const char *objects[4];
	int want;
} versions[] = {
	{{NULL}, 0},
	{{KARPENTER("k", AWS ":1.12.0")}, 12},
	{{KARPENTER("k", AWS ":1.12.3@sha256:0123")}, 12},
	{{KARPENTER("k", "registry.example.com:5000/karpenter:v1.8.1")}, 8},
	{{KARPENTER("k", AWS "@sha256:0123")}, 0},
	{{KARPENTER("k", AWS ":latest")}, 0},
	{{KARPENTER("k", AWS ":0.37.0")}, 0},
	{{KARPENTER("k", AWS ":1.12.0"), KARPENTER("l", AWS ":1.12.1")}, 12},
	{{KARPENTER("k", AWS ":1.12.0"), KARPENTER("l", AWS ":1.11.1")}, 0},
	{{KARPENTER("k", AWS ":1.12.0"),
	  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: m}, spec: "
	  "{template: {spec: {containers: [{name: manager, image: 'a/b:1.3'}]}}}}"},
	 12},
};

static void an_image_shows_the_version_of_karpenter(void **state)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct cluster *c = cluster_of(versions[i].objects);
		struct cluster *again = reread(c);
		struct arena arena = ARENA_INIT;

		if (cluster_karpenter(c, &arena) != versions[i].want ||
		    cluster_karpenter(again, &arena) != versions[i].want)
			fail_msg("row %zu: %d", i,
				 cluster_karpenter(c, &arena));
		arena_release(&arena);
		cluster_put(c);
		cluster_put(again);
	}
}

#define DEPLOYED(name, container, image)                                       \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: " name       \
	", namespace: " name                                                   \
	"}, spec: {template: {spec: {containers: [{name: " container           \
	", image: '" image "'}]}}}}"
#define KUEUE(ns, tag)                                                         \
	DEPLOYED(ns, "manager", "registry.k8s.io/kueue/kueue:" tag)

static const struct {
	const char *objects[4];
	enum operator_name name;
	const char *want;
} operators[] = {
	{{NULL}, OPERATOR_KUEUE, NULL},
	{{KUEUE("k", "v0.17.1")}, OPERATOR_KUEUE, "v0.17.1"},
	{{KUEUE("k", "v0.17.1")}, OPERATOR_KUBERAY, NULL},
	{{KUEUE("k", "v0.17.1")}, OPERATOR_LWS, NULL},
	{{KUEUE("k", "latest")}, OPERATOR_KUEUE, NULL},
	{{DEPLOYED("j", "manager", "registry.k8s.io/jobset/jobset:v0.12.0")},
	 OPERATOR_JOBSET,
	 "v0.12.0"},
	{{DEPLOYED("l", "manager", "registry.k8s.io/lws/lws:v0.9.0")},
	 OPERATOR_LWS,
	 "v0.9.0"},
	{{DEPLOYED("k", "manager", "kserve/kserve-controller:v0.20.0")},
	 OPERATOR_KSERVE,
	 "v0.20.0"},
	{{DEPLOYED("k", "manager", "kserve/localmodel-controller:v0.20.0")},
	 OPERATOR_KSERVE,
	 NULL},
	{{KUEUE("k", "v0.17.1"), KUEUE("l", "v0.18.0")}, OPERATOR_KUEUE, NULL},
	{{KUEUE("k", "v0.17.1"), KARPENTER("l", AWS ":1.12.0")},
	 OPERATOR_KUEUE,
	 "v0.17.1"},
	{{DEPLOYED("r", "kuberay-operator", "quay.io/kuberay/operator:v1.6.2")},
	 OPERATOR_KUBERAY,
	 "v1.6.2"},
	{{DEPLOYED(
		 "t", "manager",
		 "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.0")},
	 OPERATOR_TRAINER,
	 "v2.2.0"},
};

static void images_show_the_versions_of_operators(void **state)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		struct cluster *c = cluster_of(operators[i].objects);
		struct cluster *again = reread(c);
		struct arena arena = ARENA_INIT;
		const char *of = cluster_operator(c, operators[i].name, &arena);
		const char *reread_of =
			cluster_operator(again, operators[i].name, &arena);

		if (!text_eq(text_or_empty(of),
			     text_or_empty(operators[i].want)) ||
		    !text_eq(text_or_empty(of), text_or_empty(reread_of)))
			fail_msg("row %zu: %s", i, text_or_empty(of));
		arena_release(&arena);
		cluster_put(c);
		cluster_put(again);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_plugin_shows_the_injection),
		cmocka_unit_test(an_image_shows_the_version_of_karpenter),
		cmocka_unit_test(images_show_the_versions_of_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
