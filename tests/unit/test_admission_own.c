/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster's own policies at admission. A review is checked with its
 * operation, subresource, old object and user. An update is not denied for a
 * problem of the old object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admission_stage.h"
#include "base/buf.h"

#define POD(labels, image)                                                     \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"      \
	"\"p\",\"namespace\":\"ml\",\"labels\":{" labels "}},\"spec\":{"       \
	"\"containers\":[{\"name\":\"c\",\"image\":\"" image "\"}]}}"

static const char *const pod = POD("", "a:1"), *const other = POD("", "b:1"),
			 *const labeled = POD("\"tier\":\"x\"", "a:1");

/* Uses a policy with these keys, followed by documents of admission policies.
 */
static void use_documents(struct stage *s, const char *keys,
			  const char *documents)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy;
	struct buf text;

	buf_init(&text);
	buf_addf(&text, "apiVersion: gpugate.dev/v1\nkind: Policy\n%s---\n%s",
		 keys, documents);
	policy = policy_parse(
		&s->rules,
		&(struct policy_text){"policy.yaml", text.data, text.len},
		&options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		print_message("  %s\n", problems.items[i].text);
	assert_int_equal(problems.n, 0);
	policy_problems_release(&problems);
	buf_release(&text);
	admission_set_policy(s->admission, policy);
}

/* Uses a policy with this rule, object selector and expression. */
static void use_policy(struct stage *s, const char *rule, const char *selector,
		       const char *expression)
{
	struct buf text;

	buf_init(&text);
	buf_addf(&text,
		 "apiVersion: admissionregistration.k8s.io/v1\n"
		 "kind: ValidatingAdmissionPolicy\n"
		 "metadata: {name: own}\n"
		 "spec:\n"
		 "  matchConstraints:\n"
		 "    objectSelector: {%s}\n"
		 "    resourceRules: [{apiGroups: [\"\"], apiVersions: [v1], "
		 "%s}]\n"
		 "  validations: [{expression: \"%s\"}]\n"
		 "---\n"
		 "apiVersion: admissionregistration.k8s.io/v1\n"
		 "kind: ValidatingAdmissionPolicyBinding\n"
		 "metadata: {name: own}\n"
		 "spec: {policyName: own, validationActions: [Deny]}\n",
		 selector, rule, expression);
	use_documents(s, "rules: {all: off, admission-policy: {}}\n",
		      text.data);
	buf_release(&text);
}

static bool is_allowed(struct stage *s, const char *operation,
		       const char *subresource, const char *object,
		       const char *old)
{
	bool gate = strstr(object, "\"Gate\""), allowed;
	struct buf body;

	buf_init(&body);
	buf_addf(&body,
		 "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
		 "\"AdmissionReview\",\"request\":{\"uid\":\"u-1\","
		 "\"operation\":\"%s\",\"kind\":{\"group\":\"%s\",\"version\":"
		 "\"v1\",\"kind\":\"%s\"},\"resource\":{\"group\":\"%s\","
		 "\"version\":\"v1\",\"resource\":\"%s\"},%s%s%s"
		 "\"namespace\":\"ml\",\"name\":\"p\",\"userInfo\":{"
		 "\"username\":\"ann\",\"groups\":[\"dev\"]},\"dryRun\":true,"
		 "\"object\":%s,\"oldObject\":%s}}",
		 operation, gate ? "example.com" : "", gate ? "Gate" : "Pod",
		 gate ? "example.com" : "", gate ? "gates" : "pods",
		 *subresource ? "\"subResource\":\"" : "", subresource,
		 *subresource ? "\"," : "", object, old ? old : "null");
	admission_review(s->worker, ADMISSION_VALIDATE, body.data, body.len,
			 &s->reply);
	buf_release(&body);
	assert_int_equal(s->reply.status, 200);
	allowed = memmem(s->reply.body, s->reply.len, "\"allowed\":true", 14);
	assert_true(allowed ||
		    memmem(s->reply.body, s->reply.len,
			   gate ? "crd-validation" : "admission-policy",
			   gate ? 14 : 16));
	return allowed;
}

#define PODS(operations) "operations: [" operations "], resources: [pods]"

static void expressions_see_the_request(void **state)
{
	static const char *const holds[] = {
		"request.operation == 'CREATE' && oldObject == null",
		"request.userInfo.username == 'ann'",
		"'dev' in request.userInfo.groups",
		"request.dryRun",
		"request.namespace == 'ml' && request.name == 'p'",
		"request.resource.resource == 'pods'",
		"!has(request.subResource)",
		"!has(object.spec.serviceAccountName)",
		"object.spec.containers[0].image == 'a:1'",
	};
	struct stage *s = *state;
	struct buf negated;

	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
		print_message("  %s\n", holds[i]);
		use_policy(s, PODS("CREATE"), "", holds[i]);
		assert_true(is_allowed(s, "CREATE", "", pod, NULL));
		buf_init(&negated);
		buf_addf(&negated, "!(%s)", holds[i]);
		use_policy(s, PODS("CREATE"), "", negated.data);
		buf_release(&negated);
		assert_false(is_allowed(s, "CREATE", "", pod, NULL));
	}
}

static void operations_and_subresources_match(void **state)
{
	struct stage *s = *state;

	use_policy(s, PODS("CREATE"), "", "false");
	assert_false(is_allowed(s, "CREATE", "", pod, NULL));
	assert_true(is_allowed(s, "UPDATE", "", pod, other));
	use_policy(s, PODS("UPDATE"), "", "object.spec == oldObject.spec");
	assert_true(is_allowed(s, "CREATE", "", pod, NULL));
	assert_true(is_allowed(s, "UPDATE", "", pod, labeled));
	assert_false(is_allowed(s, "UPDATE", "", pod, other));
	assert_true(is_allowed(s, "UPDATE", "resize", pod, other));
	use_policy(s, "operations: ['*'], resources: [pods/resize]", "",
		   "object.spec == oldObject.spec");
	assert_true(is_allowed(s, "UPDATE", "", pod, other));
	assert_false(is_allowed(s, "UPDATE", "resize", pod, other));
	use_policy(s, "operations: ['*'], resources: ['*/*']", "",
		   "object.spec == oldObject.spec");
	assert_false(is_allowed(s, "UPDATE", "resize", pod, other));
	assert_false(is_allowed(s, "UPDATE", "", pod, other));
}

static void the_old_object_is_selected_too(void **state)
{
	struct stage *s = *state;

	use_policy(s, PODS("'*'"), "matchLabels: {tier: x}",
		   "'tier' in object.metadata.labels && request.operation != "
		   "'CREATE'");
	assert_true(is_allowed(s, "CREATE", "", pod, NULL));
	assert_false(is_allowed(s, "CREATE", "", labeled, NULL));
	assert_true(is_allowed(s, "UPDATE", "", labeled, pod));
	assert_true(is_allowed(s, "UPDATE", "", pod, other));
	/* The update removes the object from the selection, and the policy is
	 * evaluated for the old object. */
	assert_false(
		is_allowed(s, "UPDATE", "", pod, POD("\"tier\":\"x\"", "b:1")));
}

static void an_update_may_keep_old_problems(void **state)
{
	struct stage *s = *state;

	use_policy(s, PODS("CREATE, UPDATE"), "",
		   "object.spec.containers[0].image != 'a:1'");
	assert_false(is_allowed(s, "CREATE", "", pod, NULL));
	assert_false(is_allowed(s, "UPDATE", "", pod, other));
	assert_true(is_allowed(s, "UPDATE", "", labeled, pod));
}

#define GATE(size)                                                             \
	"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Gate\",\"metadata\":"   \
	"{\"name\":\"p\",\"namespace\":\"ml\"},\"spec\":{\"size\":" #size "}}"

/* The first rule of the CRD is met by any old value, so that it limits only a
 * CREATE; the second limits an UPDATE too. */
static void rules_of_a_crd_read_the_old_value(void **state)
{
	struct stage *s = *state;

	use_documents(
		s, "rules: {all: off, crd-validation: {}}\n",
		"apiVersion: apiextensions.k8s.io/v1\n"
		"kind: CustomResourceDefinition\n"
		"metadata: {name: gates.example.com}\n"
		"spec:\n"
		"  group: example.com\n"
		"  names: {kind: Gate, plural: gates}\n"
		"  scope: Namespaced\n"
		"  versions:\n"
		"  - name: v1\n"
		"    served: true\n"
		"    schema:\n"
		"      openAPIV3Schema:\n"
		"        type: object\n"
		"        properties:\n"
		"          spec:\n"
		"            type: object\n"
		"            x-kubernetes-validations:\n"
		"            - rule: oldSelf.hasValue() || self.size < 4\n"
		"              optionalOldSelf: true\n"
		"            - rule: self.size < 9\n"
		"            properties: {size: {type: integer}}\n");
	assert_true(is_allowed(s, "CREATE", "", GATE(3), NULL));
	assert_false(is_allowed(s, "CREATE", "", GATE(5), NULL));
	assert_true(is_allowed(s, "UPDATE", "", GATE(5), GATE(3)));
	assert_false(is_allowed(s, "UPDATE", "", GATE(9), GATE(3)));
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(expressions_see_the_request),
		TEST(operations_and_subresources_match),
		TEST(the_old_object_is_selected_too),
		TEST(an_update_may_keep_old_problems),
		TEST(rules_of_a_crd_read_the_old_value),
	};

	return cmocka_run_group_tests_name("own policies at admission", tests,
					   NULL, NULL);
}
