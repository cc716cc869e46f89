/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that a pod gets from its claims. Claims in its file are read. For all
 * others the names decide.
 */
#include "object_fixture.h"

#include <stdio.h>

#include "kube/claim.h"

#define CLAIM(kind, name, spec)                                                \
	"{apiVersion: resource.k8s.io/v1, kind: " kind ", metadata: {name: "   \
	"" name ", namespace: ml}, spec: " spec "}"
#define TEMPLATE(requests)                                                     \
	CLAIM("ResourceClaimTemplate", "t",                                    \
	      "{spec: {devices: {requests: [" requests "]}}}")
#define OLD(kind, spec)                                                        \
	"{apiVersion: resource.k8s.io/v1alpha2, kind: " kind                   \
	", metadata: {name: t}, spec: " spec "}"
#define GPU(more)                                                              \
	"{name: a, exactly: {deviceClassName: gpu.nvidia.com" more "}}"
#define ENTRY(text) "{name: d, " text "}"
#define OF_T	    ENTRY("resourceClaimTemplateName: t")

static void read_claims(struct arena *arena, const char *yaml,
			struct claim_table *table)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;
	struct doc doc;

	source_init(source, arena, "claims.yaml", yaml, strlen(yaml));
	loader_init(&loader, source, &load_limits_default, arena);
	while (loader_next(&loader, &doc))
		claims_add(table, arena, &doc);
}

static const struct {
	const char *claims, *entry;
	int gpus;
	bool unknown;
	enum tri gpu;
} uses[] = {
	{TEMPLATE(GPU("")), OF_T, 1, false, TRI_YES},
	{TEMPLATE(GPU(", count: 4")), OF_T, 4, false, TRI_YES},
	{TEMPLATE(GPU(", count: '${N}'")), OF_T, 0, true, TRI_YES},
	{TEMPLATE(GPU(", allocationMode: All")), OF_T, 1, true, TRI_YES},
	{TEMPLATE(GPU("") ", " GPU(", count: 2")), OF_T, 3, false, TRI_YES},
	/* In v1beta1, the fields are in the request itself. */
	{TEMPLATE("{name: a, deviceClassName: mig.nvidia.com, count: "
		  "2}"),
	 OF_T, 2, false, TRI_YES},
	{TEMPLATE(GPU("") ", {name: c, exactly: {deviceClassName: "
			  "dra.cpu}}"),
	 OF_T, 1, false, TRI_YES},
	{TEMPLATE(GPU("") ", {name: c, exactly: {deviceClassName: "
			  "fpga.acme.io}}"),
	 OF_T, 1, true, TRI_YES},
	{TEMPLATE("{name: a, firstAvailable: [{name: b, "
		  "deviceClassName: gpu.nvidia.com, count: 2}, {name: "
		  "c, deviceClassName: gpu.nvidia.com}]}"),
	 OF_T, 2, true, TRI_YES},
	{TEMPLATE(GPU(", adminAccess: true")), OF_T, 0, false, TRI_NO},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "compute-domain-daemon.nvidia.com}}"),
	 OF_T, 0, false, TRI_NO},
	/* an example driver simulates its devices */
	{TEMPLATE("{name: a, exactly: {deviceClassName: gpu.example.com}}"),
	 ENTRY("resourceClaimTemplateName: t"), 0, false, TRI_NO},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "h100.counterexample.com}}"),
	 OF_T, 1, false, TRI_YES},
	/* Drivers with "efa" and "nic" as parts of other words, and as
	 * words. */
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "default-gpu.unicorn.acme.io}}"),
	 OF_T, 1, false, TRI_YES},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "efa.networking.k8s.aws}}"),
	 OF_T, 0, false, TRI_NO},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "cx7-nics.acme.io}}"),
	 OF_T, 0, false, TRI_NO},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "TPUv5.acme.io, count: 4}}"),
	 OF_T, 4, false, TRI_YES},
	{CLAIM("ResourceClaim", "t", "{devices: {requests: [" GPU("") "]}}"),
	 ENTRY("resourceClaimName: t"), 1, false, TRI_YES},
	/* Claims of the old API. */
	{OLD("ResourceClaimTemplate",
	     "{spec: {resourceClassName: gpu.nvidia.com}}"),
	 ENTRY("source: {resourceClaimTemplateName: t}"), 1, false, TRI_YES},
	{OLD("ResourceClaim",
	     "{resourceClassName: gpu.intel.com, parametersRef: {name: "
	     "p}}"),
	 ENTRY("source: {resourceClaimName: t}"), 1, true, TRI_YES},
	{"{apiVersion: v1, kind: List, items: [" TEMPLATE(
		 GPU(", count: 8")) "]}",
	 OF_T, 8, false, TRI_YES},
	/* No such claim or template, an unknown class, no request, and an
	 * unknown group. */
	{TEMPLATE(GPU("")), ENTRY("resourceClaimName: t"), 0, true,
	 TRI_UNKNOWN},
	{TEMPLATE(GPU("")), ENTRY("resourceClaimTemplateName: my-gpu"), 1, true,
	 TRI_YES},
	{TEMPLATE("{name: a, exactly: {deviceClassName: "
		  "fpga.acme.io}}"),
	 OF_T, 0, true, TRI_UNKNOWN},
	{TEMPLATE(""), OF_T, 0, true, TRI_UNKNOWN},
	{"{apiVersion: example.com/v1, kind: ResourceClaim, metadata: "
	 "{name: t}}",
	 OF_T, 0, true, TRI_UNKNOWN},
};

static void claims_count_as_devices(void **state)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		struct fixture fixture = {0};
		struct claim_table table = {0};
		struct buf yaml = {0};
		const struct pod *pod;

		read_claims(&fixture.arena, uses[i].claims, &table);
		fixture.config.claims = &table;
		buf_addf(&yaml,
			 "{apiVersion: v1, kind: Pod, metadata: {namespace: ml}"
			 ", spec: {resourceClaims: [%s], containers: [{name: c"
			 ", image: i, resources: {claims: [{name: d}]}}]}}",
			 uses[i].entry);
		pod = fixture_pod(&fixture, yaml.data);
		if (pod->gpus.n != uses[i].gpus ||
		    pod->gpus.unknown != uses[i].unknown ||
		    pod_uses_gpu(pod) != uses[i].gpu)
			print_error("%s\n", uses[i].claims);
		assert_int_equal(pod->gpus.n, uses[i].gpus);
		assert_int_equal(pod->gpus.unknown, uses[i].unknown);
		assert_int_equal(pod_uses_gpu(pod), uses[i].gpu);
		assert_int_equal(container_uses_gpu(pod->containers),
				 uses[i].gpu);
		buf_release(&yaml);
		fixture_release(&fixture);
	}
}

static const char *gpus_of(struct fixture *fixture, const char *yaml)
{
	static char line[64];
	const struct object *object = fixture_object(fixture, yaml);

	snprintf(line, sizeof(line), "%lld%s", (long long)object->gpus.n,
		 object->gpus.unknown ? "+" : "");
	return line;
}

/* A claim in another namespace is another claim; one claim for all replicas is
 * one. */
static void a_shared_claim_counts_once_in_its_namespace(void **state)
{
	static const char claims[] =
		TEMPLATE(GPU(", count: 2")) "\n---\n" CLAIM(
			"ResourceClaim", "s",
			"{devices: {requests: [" GPU("") "]}}");
#define REPLICAS(namespace, entry)                                             \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d"           \
	"" namespace "}, spec: {replicas: 3, selector: {}, template: {spec: {" \
		     "resourceClaims: [" entry                                 \
		     "], containers: [{name: c, image: i}]}}}}"
	static const struct object_row rows[] = {
		{REPLICAS(", namespace: ml", OF_T), "6"},
		{REPLICAS("", OF_T), "6"},
		{REPLICAS(", namespace: other", OF_T), "0+"},
		{REPLICAS(", namespace: ml", ENTRY("resourceClaimName: s")),
		 "0+"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		struct claim_table table = {0};

		read_claims(&fixture.arena, claims, &table);
		fixture.config.claims = &table;
		assert_string_equal(gpus_of(&fixture, rows[i].yaml),
				    rows[i].line);
		fixture_release(&fixture);
	}
}

static void texts_without_claims_are_recognized(void **state)
{
	assert_true(claims_may_be_in("kind: ResourceClaimTemplate", 27));
	assert_true(claims_may_be_in("kind: ResourceClaim", 19));
	assert_false(claims_may_be_in("resourceClaims: []", 18));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_count_as_devices),
		cmocka_unit_test(a_shared_claim_counts_once_in_its_namespace),
		cmocka_unit_test(texts_without_claims_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
