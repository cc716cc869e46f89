/* SPDX-License-Identifier: Apache-2.0 */
/* Reading AdmissionReviews: the envelope, skipped fields, rejected reviews. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "webhook/admission/review.h"

#define HEAD                                                                   \
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","

static struct arena arena;

static enum review_outcome read_text(const char *text, struct review *review)
{
	return review_read(&arena, text, strlen(text), review);
}

static int reset(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void a_review_is_read_whole(void **state)
{
	struct review r;

	(void)state;
	assert_int_equal(
		read_text(HEAD
			  "\"request\":{\"uid\":\"u-\\u00e91\",\"operation\":"
			  "\"UPDATE\",\"kind\":{\"group\":\"kubeflow.org\","
			  "\"version\":\"v1\",\"kind\":\"PyTorchJob\"},"
			  "\"subResource\":\"resize\",\"namespace\":\"ml\","
			  "\"name\":\"a\",\"dryRun\":true,\"userInfo\":{"
			  "\"username\":\"bob\",\"groups\":[\"x\",\"y\"]},"
			  "\"object\":{\"spec\":{\"a\":1}},\"oldObject\":{"
			  "\"spec\":{\"a\":2}}}}",
			  &r),
		REVIEW_GOOD);
	assert_string_equal(r.uid, "u-\xc3\xa9"
				   "1");
	assert_int_equal(r.operation, OPERATION_UPDATE);
	assert_string_equal(r.kind, "PyTorchJob");
	assert_string_equal(r.group, "kubeflow.org");
	assert_string_equal(r.subresource, "resize");
	assert_string_equal(r.namespace, "ml");
	assert_string_equal(r.user, "bob");
	assert_true(r.dry_run);
	assert_true(review_in_group(&r, "y"));
	assert_false(review_in_group(&r, "z"));
	assert_string_equal(node_path(r.object.root, "spec.a")->str, "1");
	assert_string_equal(node_path(r.old.root, "spec.a")->str, "2");
}

static void pointers_count_from_the_object(void **state)
{
	struct review r;
	struct buf text;

	(void)state;
	read_text(HEAD "\"request\":{\"uid\":\"u\",\"object\":{\"spec\":{"
		       "\"a\":[1,2]}}}}",
		  &r);
	buf_init(&text);
	node_pointer(node_at(node_path(r.object.root, "spec.a"), 1), &text);
	assert_string_equal(text.data, "/spec/a/1");
	buf_release(&text);
}

static void fields_that_no_rule_reads_are_skipped(void **state)
{
	struct review r;
	const struct node *object, *notes;

	(void)state;
	read_text(HEAD
		  "\"request\":{\"uid\":\"u\",\"object\":{\"metadata\":{"
		  "\"managedFields\":[{\"a\":[\"}]\\\"\"]}],\"annotations\":{"
		  "\"kubectl.kubernetes.io/last-applied-configuration\":"
		  "\"{\\\"x\\\":1}\",\"b\":\"c\"}},\"spec\":{\"status\":1,"
		  "\"managedFields\":2},\"status\":{\"phase\":\"x\"}}}}",
		  &r);
	object = r.object.root;
	notes = node_path(object, "metadata.annotations");
	assert_null(node_path(object, "metadata.managedFields"));
	assert_null(node_get(object, "status"));
	assert_int_equal(node_count(notes), 1);
	assert_non_null(node_get(notes, "b"));
	/* Fields with these names at other places belong to the user. */
	assert_non_null(node_path(object, "spec.status"));
	assert_non_null(node_path(object, "spec.managedFields"));
}

static void other_bodies_are_rejected(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"null",
		"[]",
		"{}",
		"{\"kind\":\"AdmissionReview\"}",
		HEAD "\"request\":{}}",
		HEAD "\"request\":{\"uid\":\"\"}}",
		HEAD "\"request\":{\"uid\":7}}",
		HEAD "\"request\":[]}",
		HEAD "\"request\":{\"uid\":\"u\"",
		HEAD "\"request\":{\"uid\":\"u\"}} x",
		"{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":"
		"\"AdmissionReview\",\"request\":{\"uid\":\"u\"}}",
		HEAD "\"request\":{\"uid\":\"u\",\"object\":{\"a\":\"",
	};
	struct review r;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (read_text(texts[i], &r) != REVIEW_NONE)
			fail_msg("taken for a review: %s", texts[i]);
		assert_non_null(r.problem);
		assert_true(*r.problem != '\0');
	}
}

static void add_many(struct buf *text, const char *what, size_t n)
{
	while (n--)
		buf_adds(text, what);
}

static enum review_outcome read_object(const char *object, struct review *r)
{
	static struct buf text;

	buf_release(&text);
	buf_adds(&text, HEAD "\"request\":{\"uid\":\"u-7\",\"operation\":"
			     "\"CREATE\",\"object\":");
	buf_adds(&text, object);
	buf_adds(&text, "}}");
	return review_read(&arena, text.data, text.len, r);
}

/* A review that a user can send but gpugated cannot read is answered. */
static void unreadable_objects_keep_their_uid(void **state)
{
	static const char *const objects[] = {
		"{\"a\":\"\xff\"}",	"{\"a\":\"\x01\"}", "{\"a\":01}",
		"{\"a\":\"\\ud800\"x}", "{\"a\":nul}",	    "{\"a\":1e}",
	};
	struct review r;
	struct buf deep;

	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		if (read_object(objects[i], &r) != REVIEW_UNREADABLE)
			fail_msg("readable: %s", objects[i]);
		assert_string_equal(r.uid, "u-7");
		assert_int_equal(r.operation, OPERATION_CREATE);
		assert_non_null(strstr(r.problem, "(byte "));
	}
	buf_init(&deep);
	add_many(&deep, "[", 1100);
	add_many(&deep, "]", 1100);
	assert_int_equal(read_object(deep.data, &r), REVIEW_UNREADABLE);
	assert_non_null(strstr(r.problem, "nested deeper"));
	buf_reset(&deep);
	buf_addc(&deep, '[');
	add_many(&deep, "0,", 310000);
	buf_adds(&deep, "0]");
	assert_int_equal(read_object(deep.data, &r), REVIEW_UNREADABLE);
	assert_non_null(strstr(r.problem, "more than"));
	buf_release(&deep);
}

/* --- objects that would take too long ------------------------------------- */

static void add_list(struct buf *text, const char *item, size_t n)
{
	buf_addc(text, '[');
	for (size_t i = 0; i < n; i++)
		buf_addf(text, "%s%s", i ? "," : "", item);
	buf_addc(text, ']');
}

static void lists_beyond_the_limit_are_unreadable(void **state)
{
	static const struct {
		const char *item;
		size_t n, lists;
		enum review_outcome outcome;
	} rows[] = {
		{"{\"a\":1}", 1400, 1, REVIEW_GOOD},
		{"{\"a\":1}", 1600, 1, REVIEW_UNREADABLE},
		{"{}", 1600, 1, REVIEW_UNREADABLE},
		{"[]", 1600, 1, REVIEW_UNREADABLE},
		{"{\"a\":1}", 800, 3, REVIEW_GOOD},
		{"{\"a\":1}", 800, 6, REVIEW_UNREADABLE},
		{"\"node-1\"", 5500, 1, REVIEW_GOOD},
		{"\"node-1\"", 6500, 1, REVIEW_UNREADABLE},
	};
	struct review r;
	struct buf text;

	(void)state;
	buf_init(&text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		buf_reset(&text);
		buf_adds(&text, "{\"spec\":{");
		for (size_t l = 0; l < rows[i].lists; l++) {
			buf_addf(&text, "%s\"l%zu\":", l ? "," : "", l);
			add_list(&text, rows[i].item, rows[i].n);
		}
		buf_adds(&text, "}}");
		print_message("  %zu of %s, %zu times\n", rows[i].n,
			      rows[i].item, rows[i].lists);
		assert_int_equal(read_object(text.data, &r), rows[i].outcome);
		assert_false(r.old_too_long);
		if (rows[i].outcome == REVIEW_UNREADABLE)
			assert_string_equal(
				r.problem,
				"its lists, keys or texts are too long to be checked");
		assert_string_equal(r.uid, "u-7");
	}
	buf_release(&text);
}

/* Adds the given number of empty maps below the given number of keys of the
 * given length. */
static void add_below(struct buf *text, size_t maps, size_t levels,
		      size_t bytes)
{
	buf_reset(text);
	for (size_t i = 0; i < levels; i++) {
		buf_adds(text, "{\"");
		for (size_t k = 0; k < bytes; k++)
			buf_addc(text, 'k');
		buf_adds(text, "\":");
	}
	add_list(text, "{}", maps);
	for (size_t i = 0; i < levels; i++)
		buf_addc(text, '}');
}

static void long_keys_around_many_maps_are_unreadable(void **state)
{
	static const struct {
		size_t maps, levels, bytes;
		enum review_outcome outcome;
	} rows[] = {
		{1000, 10, 300, REVIEW_GOOD},
		{1000, 100, 300, REVIEW_UNREADABLE},
		{1000, 1, 30000, REVIEW_UNREADABLE},
		{10, 1, 30000, REVIEW_GOOD},
		{1000, 900, 1, REVIEW_GOOD},
	};
	struct review r;
	struct buf text;

	(void)state;
	buf_init(&text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %zu below %zu keys of %zu\n", rows[i].maps,
			      rows[i].levels, rows[i].bytes);
		add_below(&text, rows[i].maps, rows[i].levels, rows[i].bytes);
		assert_int_equal(read_object(text.data, &r), rows[i].outcome);
	}
	buf_release(&text);
}

static void long_texts_beside_many_maps_are_unreadable(void **state)
{
	static const struct {
		const char *key;
		size_t bytes, maps;
		enum review_outcome outcome;
	} rows[] = {
		{"path", 100000, 100, REVIEW_GOOD},
		{"path", 100000, 200, REVIEW_UNREADABLE},
		{"manifest", 100000, 1000, REVIEW_GOOD},
		{"path", 2000000, 5, REVIEW_GOOD},
		{"path", 2000000, 50, REVIEW_UNREADABLE},
		{"path", 4000, 1400, REVIEW_GOOD},
		{"path", 10000, 1400, REVIEW_GOOD},
		{"path", 20000, 1400, REVIEW_UNREADABLE},
		{"path", 50000, 1400, REVIEW_UNREADABLE},
	};
	struct review r;
	struct buf text;

	(void)state;
	buf_init(&text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %s of %zu beside %zu\n", rows[i].key,
			      rows[i].bytes, rows[i].maps);
		buf_reset(&text);
		buf_addf(&text, "{\"%s\":\"", rows[i].key);
		for (size_t k = 0; k < rows[i].bytes; k++)
			buf_addc(&text, '/');
		buf_adds(&text, "\",\"maps\":");
		add_list(&text, "{}", rows[i].maps);
		buf_addc(&text, '}');
		assert_int_equal(read_object(text.data, &r), rows[i].outcome);
	}
	buf_release(&text);
}

/* An update that shortens a long object is checked without the old object. */
static void a_long_old_object_is_left_out(void **state)
{
	struct review r;
	struct buf text;

	(void)state;
	buf_init(&text);
	buf_adds(&text, HEAD "\"request\":{\"uid\":\"u\",\"object\":{\"a\":1},"
			     "\"oldObject\":{\"a\":");
	add_list(&text, "{}", 2100);
	buf_adds(&text, "}}}");
	assert_int_equal(review_read(&arena, text.data, text.len, &r),
			 REVIEW_GOOD);
	assert_true(r.old_too_long);
	assert_non_null(r.old.root);
	buf_release(&text);
}

static void the_start_of_a_long_review_is_enough(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{HEAD "\"request\":{\"uid\":\"u-7\",\"operation\":\"CREATE\","
		      "\"namespace\":\"ml\",\"object\":{\"a\":\"bb",
		 true},
		{HEAD "\"request\":{\"uid\":\"u-7\",\"operation\":\"CREATE\","
		      "\"namespace\":\"ml\",\"oldObject\":{\"a\":[{",
		 true},
		/* texts of users that look like fields of the review */
		{HEAD "\"request\":{\"uid\":\"u-7\",\"operation\":\"CREATE\","
		      "\"name\":\"object\",\"userInfo\":{\"object\":[\"\\\"\","
		      "\"object\"]},\"namespace\":\"ml\" , \"object\" : {\"a",
		 true},
		{HEAD "\"request\":{\"uid\":\"u-7\",\"operation\":\"CREATE\","
		      "\"name\":\"obj",
		 false},
		{HEAD "\"request\":{\"uid\":\"u-7\",\"obj", false},
		{HEAD "\"request\":{\"object\":{", false},
		{HEAD "\"object\":{\"a\":1", false},
		{"[[\"object\"", false},
		{"}}}}{{\"object\":", false},
		{"\"", false},
		{"", false},
	};
	struct review r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %s\n", rows[i].text);
		assert_int_equal(review_read_start(&arena, rows[i].text,
						   strlen(rows[i].text), &r),
				 rows[i].good ? REVIEW_UNREADABLE
					      : REVIEW_NONE);
		if (!rows[i].good)
			continue;
		assert_string_equal(r.uid, "u-7");
		assert_string_equal(r.namespace, "ml");
		assert_int_equal(r.operation, OPERATION_CREATE);
	}
}

/* Texts that Go's decoder accepts and jansson does not. */
static void texts_that_only_go_accepts_are_read(void **state)
{
	struct review r;

	(void)state;
	assert_int_equal(
		read_object("{\"a\":100000000000000000000,\"b\":\"x\\u0000y\","
			    "\"\\u0000\":1}",
			    &r),
		REVIEW_GOOD);
	assert_int_equal(node_get(r.object.root, "b")->len, 3);
}

static void a_missing_object_is_null(void **state)
{
	struct review r;

	(void)state;
	assert_int_equal(read_object("null", &r), REVIEW_GOOD);
	assert_null(r.object.root);
	assert_null(r.old.root);
	assert_int_equal(read_object("[1]", &r), REVIEW_GOOD);
	assert_null(r.object.root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_review_is_read_whole, reset),
		cmocka_unit_test_teardown(pointers_count_from_the_object,
					  reset),
		cmocka_unit_test_teardown(fields_that_no_rule_reads_are_skipped,
					  reset),
		cmocka_unit_test_teardown(other_bodies_are_rejected, reset),
		cmocka_unit_test_teardown(unreadable_objects_keep_their_uid,
					  reset),
		cmocka_unit_test_teardown(lists_beyond_the_limit_are_unreadable,
					  reset),
		cmocka_unit_test_teardown(
			long_keys_around_many_maps_are_unreadable, reset),
		cmocka_unit_test_teardown(
			long_texts_beside_many_maps_are_unreadable, reset),
		cmocka_unit_test_teardown(a_long_old_object_is_left_out, reset),
		cmocka_unit_test_teardown(the_start_of_a_long_review_is_enough,
					  reset),
		cmocka_unit_test_teardown(texts_that_only_go_accepts_are_read,
					  reset),
		cmocka_unit_test_teardown(a_missing_object_is_null, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
