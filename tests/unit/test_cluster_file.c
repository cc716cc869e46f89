/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of cluster states: errors with positions, omitted parts, and that a
 * written file reads back equal. Each byte matters, so they are JSON, but
 * written with ' for ".
 */
#include "cluster_fixture.h"

#define ITEM                                                                   \
	"{'apiVersion':'v1','kind':'ResourceQuota',"                           \
	"'metadata':{'namespace':'a','name':'q'},"                             \
	"'spec':{'hard':{'requests.nvidia.com/gpu':'8'}}}"

static void quote(char *json)
{
	for (; (json = strchr(json, '\'')); json++)
		*json = '"';
}

static struct cluster *parse_text(const char *text, struct err *err)
{
	char *json = strdup(text);
	const struct cluster_text file = {"cluster.json", json, strlen(json)};
	struct cluster *c;

	quote(json);
	c = cluster_parse(&file, NULL, NULL, err);
	free(json);
	return c;
}

static char whole[] = HEAD
	",'server':'https://x','policy':'mode: audit\\n',\n"
	"'unreadable':[{'apiVersion':'v1','kind':'Node',"
	"'reason':'forbidden'}],\n"
	"'items':[\n" ITEM ",\n{'apiVersion':'v1','kind':'LimitRange',"
	"'metadata':{'namespace':'a','name':'l'},"
	"'spec':{'limits':[{'type':'Container','default':{'cpu':'1'}}]}},\n"
	"{'apiVersion':'v1','kind':'Namespace',"
	"'metadata':{'name':'a','labels':{'tier':'dev'}}},\n"
	"{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass',"
	"'metadata':{'name':'gpu'},'value':7},\n"
	"{'apiVersion':'kueue.x-k8s.io/v1beta1','kind':'LocalQueue',"
	"'metadata':{'name':'lq','namespace':'a'},"
	"'spec':{'clusterQueue':'cq'}},\n"
	"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n',"
	"'labels':{'kubernetes.io/hostname':'n','a':'\\u00e9'}},"
	"'status':{'allocatable':{'nvidia.com/gpu':'8'}},'count':12}],\n"
	"'usage':[{'owner':{'apiVersion':'batch/v1','kind':'Job',"
	"'namespace':'a','name':'j'},"
	"'resources':{'nvidia.com/gpu':'3'},'pods':3}]}\n";

static int setup(void **state)
{
	quote(whole);
	return 0;
}

static void a_state_is_read_whole(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct object_id job = {"batch/v1", "Job", "a", "j"};
	const struct object_id class = {"scheduling.k8s.io/v1", "PriorityClass",
					"", "gpu"};
	struct cluster_usage usage;
	struct err err = {0};
	struct cluster *c = parse_text(whole, &err);
	int64_t value;
	size_t n;

	if (!c)
		fail_msg("%u:%u: %s", err.line, err.column, err.text);
	assert_int_equal(cluster_taken_at(c), 1769846400);
	assert_string_equal(cluster_server(c), "https://x");
	assert_string_equal(cluster_policy(c), "mode: audit\n");
	assert_string_equal(cluster_unreadable(c, CLUSTER_NODE), "forbidden");
	assert_null(cluster_unreadable(c, CLUSTER_QUOTA));
	assert_true(node_eq(node_get(cluster_namespace(c, "a", &arena), "tier"),
			    "dev"));
	assert_null(cluster_namespace(c, "b", &arena));
	assert_true(node_int(
		node_get(cluster_object(c, &class, &arena), "value"), &value));
	assert_int_equal(value, 7);
	assert_true(cluster_usage(c, &job, &arena, &usage));
	assert_int_equal(usage.pods, 3);
	assert_int_equal(quantity_value(usage.items[0].quantity), 3);
	assert_int_equal(cluster_nodes(c, &n)->count, 12);
	cluster_put(c);
	arena_release(&arena);
}

static void a_written_state_is_read_back(void **state)
{
	struct cluster *c = parse_text(whole, NULL);
	char *first = NULL, *second = NULL;
	size_t n, m;
	FILE *out = open_memstream(&first, &n);

	cluster_write(c, out);
	fclose(out);
	cluster_put(c);
	c = parse_text(first, NULL);
	assert_non_null(c);
	out = open_memstream(&second, &m);
	cluster_write(c, out);
	fclose(out);
	cluster_put(c);
	assert_string_equal(first, second);
	assert_non_null(strstr(first, "\"count\":12"));
	assert_non_null(strstr(first, "\"reason\":\"forbidden\""));
	free(first);
	free(second);
}

/* A file truncated at any point is rejected, with a place. */
static void a_cut_file_is_refused_with_a_position(void **state)
{
	size_t len = strlen(whole) - 1;

	for (size_t i = 0; i < len; i++) {
		struct cluster_text text = {"cut.json", NULL, i};
		struct err err = {0};
		char *part = malloc(i + 1);
		struct cluster *c;

		memcpy(part, whole, i);
		text.text = part;
		c = cluster_parse(&text, NULL, NULL, &err);
		if (c || !err.set || !err.line)
			fail_msg("cut at %zu: %s", i,
				 c ? "taken" : "no error or no place");
		free(part);
	}
}

/* A file with one changed byte is accepted or rejected, without other
 * effects. */
static void a_changed_byte_is_read_or_refused(void **state)
{
	static const char bytes[] = "\"{}[],:x0\\\x80";
	size_t len = strlen(whole);
	char *copy = malloc(len);

	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
			const struct cluster_text text = {"x", copy, len};
			struct err err = {0};
			struct cluster *c;

			memcpy(copy, whole, len);
			copy[i] = bytes[k];
			c = cluster_parse(&text, NULL, NULL, &err);
			assert_true((c == NULL) == (err.set != 0));
			cluster_put(c);
		}
	free(copy);
}

static void mistakes_have_a_position(void **state)
{
	static const struct {
		const char *text, *says;
		unsigned line, column;
	} table[] = {
		{"[]", "expected a JSON object", 1, 1},
		{"{}", "apiVersion, kind and version are missing", 1, 1},
		{"{'apiVersion':'v1'}", "not gpugate.dev/v1", 1, 15},
		{"{'apiVersion':'gpugate.dev/v1',\n'kind':'Policy'}",
		 "not ClusterSnapshot", 2, 8},
		{"{'apiVersion':'gpugate.dev/v1',\n'version':2}",
		 "newer gpugate", 2, 11},
		{"{'version':'one'}", "not a number", 1, 12},
		{HEAD ",'takenAt':'yesterday'}", "takenAt", 1, 112},
		{HEAD ",'items':{}}", "expected a list", 1, 110},
		{HEAD ",\n'items':[" ITEM ",\n" ITEM "]}", "appears twice", 3,
		 1},
		{HEAD ",'items':[,]}", "", 1, 111},
		{HEAD ",}", "", 1, 102},
		{HEAD "} x", "text follows", 1, 103},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct err err = {0};
		struct cluster *c = parse_text(table[i].text, &err);

		if (c || !strstr(err.text, table[i].says) ||
		    err.line != table[i].line || err.column != table[i].column)
			fail_msg("%s: %u:%u: %s", table[i].text, err.line,
				 err.column, err.text);
	}
}

static void count(void *context, const char *text)
{
	if (!strstr(text, "2:1: left out: ResourceQuota `a/broken`"))
		fail_msg("%s", text);
	++*(int *)context;
}

static void objects_that_cannot_be_read_are_counted(void **state)
{
	char text[] = HEAD
		",'items':[\n"
		"{'apiVersion':'v1','kind':'ResourceQuota',"
		"'metadata':{'namespace':'a','name':'broken'},"
		"'spec':{'hard':{'requests.nvidia.com/gpu':'8 GPUs'}}},\n" ITEM
		"]}";
	const struct cluster_text whole_text = {"x", text, strlen(text)};
	int reported = 0;
	struct cluster *c;

	quote(text);
	c = cluster_parse(&whole_text, count, &reported, NULL);
	assert_non_null(c);
	assert_int_equal(reported, 1);
	assert_int_equal(cluster_count(c, CLUSTER_QUOTA), 1);
	cluster_put(c);
}

static void a_missing_file_is_named(void **state)
{
	struct err err = {0};

	assert_null(
		cluster_load("/does/not/exist.json", false, NULL, NULL, &err));
	assert_non_null(strstr(err.text, "No such file"));
	memset(&err, 0, sizeof(err));
	assert_null(cluster_load("/", false, NULL, NULL, &err));
	assert_non_null(strstr(err.text, "directory"));
	memset(&err, 0, sizeof(err));
	assert_null(cluster_load("/dev/null", false, NULL, NULL, &err));
	assert_true(err.set);
}

static void lists_of_the_api_server_are_read(void **state)
{
	char page[] = "{'kind':'ResourceQuotaList','apiVersion':'v1',"
		      "'metadata':{'continue':'tok','resourceVersion':'9'},"
		      "'items':[{'metadata':{'name':'q','namespace':'a',"
		      "'managedFields':[{'broken':}],'annotations':{'x':'y'}},"
		      "'spec':{'hard':{'pods':'4'}}},{'metadata':{}}]}";
	struct cluster_builder *b = cluster_builder_new();
	struct cluster_list list = {.kind = CLUSTER_QUOTA};
	struct err err = {0};
	struct cluster *c;

	quote(page);
	buf_init(&list.next);
	buf_init(&list.version);
	assert_int_equal(
		cluster_builder_list(b, page, strlen(page), &list, &err), 0);
	assert_string_equal(list.next.data, "tok");
	assert_string_equal(list.version.data, "9");
	assert_int_equal(list.items, 2);
	assert_int_equal(cluster_builder_list(b, "<html>", 6, &list, &err), -1);
	c = cluster_builder_finish(b, 0);
	assert_int_equal(cluster_count(c, CLUSTER_QUOTA), 1);
	cluster_put(c);
	cluster_builder_free(b);
	buf_release(&list.next);
	buf_release(&list.version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_read_whole),
		cmocka_unit_test(a_cut_file_is_refused_with_a_position),
		cmocka_unit_test(mistakes_have_a_position),
		cmocka_unit_test(objects_that_cannot_be_read_are_counted),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(lists_of_the_api_server_are_read),
		cmocka_unit_test(a_written_state_is_read_back),
		cmocka_unit_test(a_changed_byte_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
