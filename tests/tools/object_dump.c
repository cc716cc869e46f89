/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_dump [--pods] FILE...: prints the objects of files, for comparison
 * with the corpus index. A line per file has fields separated by tabs: FILE,
 * kinds (apiVersion:kind, comma separated, in order), number of documents,
 * "y" if a pod gets an accelerator ("u": unknown, "n": none).
 * --pods: also a line for each pod: object, role, containers, steady and peak
 * pods, devices, gang, restart, and how it gets its devices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/load.h"
#include "kube/object.h"

struct dump {
	struct arena arena;
	struct kube_config config;
	struct buf kinds, pods;
	unsigned documents;
	char gpu;
	bool show_pods;
};

static void dump_issue(void *context, const struct load_issue *issue)
{
	(void)context;
	(void)issue;
}

static const char *amount_text(struct amount amount, char out[24])
{
	snprintf(out, 24, "%lld%s", (long long)amount.n,
		 amount.unknown ? "+" : "");
	return out;
}

static void dump_pod(struct dump *dump, const struct object *object,
		     const struct pod *pod)
{
	static const char *const restarts[] = {"unknown", "Always", "OnFailure",
					       "Never", "ExitCode"};
	char steady[24], peak[24], gpus[24];

	if (pod->gpu_by)
		dump->gpu = 'y';
	else if (pod->gpu_unknown && dump->gpu == 'n')
		dump->gpu = 'u';
	if (!dump->show_pods)
		return;
	buf_addf(&dump->pods,
		 "\tpod %s/%s role=%s containers=%zu steady=%s peak=%s "
		 "gpus=%s by=%u%s restart=%s injects=%u%s\n",
		 object->kind, object->name ? object->name : "-", pod->role,
		 pod->ncontainers, amount_text(pod->steady, steady),
		 amount_text(pod->peak, peak), amount_text(pod->gpus, gpus),
		 pod->gpu_by, pod->gpu_unknown ? "?" : "",
		 restarts[pod->restart], pod->injects,
		 pod->flat ? " flat" : "");
}

static void dump_object(struct dump *dump, const struct object *object)
{
	char gpus[24], peak[24], gang[24];

	FOR_EACH_POD(object, pod)
		dump_pod(dump, object, pod);
	if (dump->show_pods && (object->npods || object->nembedded))
		buf_addf(&dump->pods,
			 "\tobject %s/%s gpus=%s peak=%s gang=%s kind=%d%s%s%s"
			 "%s\n",
			 object->kind, object->name ? object->name : "-",
			 amount_text(object->gpus, gpus),
			 amount_text(object->gpus_peak, peak),
			 amount_text(object->gang, gang), object->gang_kind,
			 object->fragment ? " fragment" : "",
			 object->suspended ? " suspended" : "",
			 object->kueue ? " kueue" : "",
			 object->pods_inferred ? " guessed" : "");
	for (size_t i = 0; i < object->nembedded; i++)
		dump_object(dump, &object->embedded[i]);
}

static void dump_document(struct dump *dump, struct doc *doc)
{
	const struct node *root = doc->root;
	const char *version = node_str(node_get(root, "apiVersion"));
	const char *kind = node_str(node_get(root, "kind"));
	struct object_list list = {0};
	const struct node *nested = NULL;

	placeholder_mark(doc);
	dump->documents++;
	if (version && kind)
		buf_addf(&dump->kinds, "%s%s:%s", dump->kinds.len ? "," : "",
			 version, kind);
	object_read(&dump->arena, &dump->config, doc, &list, &nested);
	for (size_t i = 0; i < list.n; i++)
		dump_object(dump, &list.items[i]);
}

static void dump_text(struct dump *dump, const char *name, const char *text,
		      size_t len)
{
	struct source source;
	struct loader loader;
	struct doc doc;

	source_init(&source, &dump->arena, name, text, len);
	loader_init(&loader, &source, &load_limits_default, &dump->arena);
	loader.issue = dump_issue;
	dump->documents = 0;
	dump->gpu = 'n';
	while (loader_next(&loader, &doc))
		if (doc.root)
			dump_document(dump, &doc);
	printf("%s\t%s\t%u\t%c\n", name, dump->kinds.data, dump->documents,
	       dump->gpu);
	fputs(dump->pods.data, stdout);
	buf_reset(&dump->kinds);
	buf_reset(&dump->pods);
	arena_reset(&dump->arena);
}

static int dump_file(struct dump *dump, const char *name)
{
	FILE *file = fopen(name, "rb");
	char *text;
	long len;

	if (!file || fseek(file, 0, SEEK_END) || (len = ftell(file)) < 0) {
		fprintf(stderr, "object_dump: cannot read %s\n", name);
		if (file)
			fclose(file);
		return 2;
	}
	rewind(file);
	text = malloc((size_t)len + 1);
	if (!text)
		abort();
	len = (long)fread(text, 1, (size_t)len, file);
	fclose(file);
	dump_text(dump, name, text, (size_t)len);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	struct dump dump = {0};
	int status = 0;
	int i = 1;

	if (i < argc && !strcmp(argv[i], "--pods")) {
		dump.show_pods = true;
		i++;
	}
	buf_init(&dump.kinds);
	buf_init(&dump.pods);
	for (; i < argc; i++)
		status |= dump_file(&dump, argv[i]);
	buf_release(&dump.kinds);
	buf_release(&dump.pods);
	arena_release(&dump.arena);
	return status;
}
