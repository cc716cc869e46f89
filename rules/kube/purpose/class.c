/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The purpose of a pod: training, serving, or the infrastructure of a GPU
 * cluster. Some kinds are made for one purpose; for other kinds the command
 * decides, or the image if its entrypoint is a model server. Also finds the
 * label that restricts a pod to accelerator nodes.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "kube/command/command.h"
#include "kube/command/server.h"
#include "kube/purpose/purpose.h"

/* True for "finetune" and "finetuning", but not for "finetuned" and
 * "pretrained", because such a model is served. */
static bool tells_training(const char *name)
{
	static const char *const stems[] = {"finetun", "pretrain"};

	for (size_t i = 0; name && i < 2; i++)
		for (const char *at = name; (at = strstr(at, stems[i]));) {
			at += strlen(stems[i]);
			if (!text_starts(at, "ed"))
				return true;
		}
	return false;
}

static bool train_script(const struct arg *arg)
{
	const char *name = arg->base;
	const char *end = arg->text + arg->len;

	if (arg->len < 3 ||
	    (memcmp(end - 3, ".py", 3) != 0 && memcmp(end - 3, ".sh", 3) != 0))
		return false;
	return text_starts(name, "train") || text_contains(name, "_train") ||
	       tells_training(name);
}

static bool serve_script(const struct arg *arg)
{
	static const char *const words[] = {"inference", "serve",  "serving",
					    "_api",	 "api.py", "api_",
					    NULL};
	const char *end = arg->text ? arg->text + arg->len : NULL;

	return end && arg->len > 3 && !memcmp(end - 3, ".py", 3) &&
	       text_any(arg->base, words, text_contains);
}

/* True for the module in `python -m package.train`, and for one whose last part
 * names training (tells_training()). */
static bool train_module(const struct arg *option, const struct arg *arg)
{
	const char *dot = arg->text ? strrchr(arg->text, '.') : NULL;

	return dot && text_eq(option->text, "-m") &&
	       (!strcmp(dot, ".train") || tells_training(dot));
}

static bool argv_train(const struct argv *argv)
{
	static const char *const names[] = {"torchrun",
					    "horovodrun",
					    "mpirun",
					    "mpiexec",
					    "torch.distributed.run",
					    "torch.distributed.launch",
					    "deepspeed",
					    "tune",
					    "axolotl",
					    "llamafactory-cli",
					    NULL};
	static struct argv_names launchers = {.names = names};

	if (argv_have_name(argv, &launchers))
		return true;
	if (argv_have(argv, "accelerate") && argv_have(argv, "launch"))
		return true;
	for (size_t i = 0; i < argv->n; i++)
		if (argv->items[i].text &&
		    (train_script(&argv->items[i]) ||
		     (i && train_module(&argv->items[i - 1], &argv->items[i]))))
			return true;
	return false;
}

/* True for commands of servers that answer only after their model is loaded. */
static bool argv_loads(const struct argv *argv)
{
	static const char *const names[] = {
		"tritonserver",
		"text-generation-launcher",
		"sglang.launch_server",
		"text-embeddings-router",
		"tensorflow_model_server",
		"trtllm-serve",
		"llama-server",
		"vllm.entrypoints.openai.api_server",
		"vllm.entrypoints.api_server",
		"dynamo.vllm",
		"dynamo.sglang",
		"dynamo.trtllm",
		"mlserver",
		"huggingfaceserver",
		"infinity_emb",
		"lorax-launcher",
		"llama_cpp.server",
		"mistralrs-server",
		"fastchat.serve.model_worker",
		"fastchat.serve.vllm_worker",
		"aphrodite.endpoints.openai.api_server",
		NULL};
	static struct argv_names servers = {.names = names};
	static const char *const tool_names[] = {"vllm", "lmdeploy", "sglang",
						 NULL};
	static struct argv_names tools = {.names = tool_names};

	if (argv_have_name(argv, &servers))
		return true;
	return argv_have(argv, "serve") && argv_have_name(argv, &tools);
}

/* True for commands of all servers, including those that choose and load models
 * on demand. */
static bool argv_serve(const struct argv *argv)
{
	static const char *const names[] = {"torchserve", "uvicorn", "gunicorn",
					    NULL};
	static struct argv_names servers = {.names = names};
	static const char *const tool_names[] = {"ollama", "bentoml", NULL};
	static struct argv_names tools = {.names = tool_names};

	if (argv_loads(argv) || argv_have_name(argv, &servers))
		return true;
	return argv_have(argv, "serve") && argv_have_name(argv, &tools);
}

static bool image_has(const struct container *c, const char *const *names)
{
	return node_is_unset(node_get(c->node, "command")) &&
	       text_any(c->image, names, text_contains);
}

/* True for images whose entrypoint is a server that answers only after its
 * model is loaded. */
static bool image_loads(const struct container *c)
{
	static const char *const names[] = {
		"vllm-openai",	    "text-generation-inference",
		"tritonserver",	    "text-embeddings-inference",
		"lmsysorg/sglang",  "tensorflow/serving",
		"tf-serving",	    "nvcr.io/nim/",
		"llama.cpp:server", "djl-serving",
		"djl-inference",    "vllm-engine",
		"tgi-inference",    NULL};

	return image_has(c, names);
}

static bool image_serves(const struct container *c)
{
	static const char *const names[] = {"ollama/ollama", "torchserve",
					    NULL};

	return image_loads(c) || image_has(c, names);
}

/* True if a flag names the model or the location of its weights. */
static bool argv_names_model(const struct argv *argv)
{
	static const char *const flags[] = {"model",
					    "model-id",
					    "model-name",
					    "model-path",
					    "model-base-path",
					    "model-repository",
					    "checkpoint-path",
					    "load-parameters-path",
					    NULL};
	const struct arg *arg;

	for (const char *const *flag = flags; *flag; flag++) {
		argv_flag(argv, *flag, &arg);
		if (arg)
			return true;
	}
	return false;
}

enum tri container_loads_model(const struct argv *argv,
			       const struct container *c)
{
	/* Servers that load models on demand, as Triton does in one of its
	 * modes, and simulators without a model. */
	static const char *const others[] = {"ollama/ollama",
					     "llm-d-inference-sim", NULL};

	if (argv_have(argv, "ollama") || image_has(c, others) ||
	    (text_eq(argv_flag(argv, "--model-control-mode", NULL),
		     "explicit") &&
	     !argv_have(argv, "--load-model")))
		return TRI_NO;
	return c->pod->object->class == KIND_SERVING || argv_loads(argv) ||
			       argv_names_model(argv) || image_loads(c) ||
			       container_hub_model(argv, c)
		       ? TRI_YES
		       : TRI_UNKNOWN;
}

/* True if a launcher of training starts a server: its pods always restart, and
 * they run a script such as `inference_api.py` or are probed by requests. */
static bool launches_server(const struct container *c, const struct argv *argv)
{
	const struct node *probe = node_get(c->node, "readinessProbe");

	if (c->pod->object->class != KIND_SERVICE)
		return false;
	for (size_t i = 0; i < argv->n; i++)
		if (serve_script(&argv->items[i]))
			return true;
	return node_get(probe, "httpGet") || node_get(probe, "grpc");
}

enum pod_purpose container_purpose(const struct container *c)
{
	struct argv argv = container_argv(c);

	if (argv_serve(&argv) || image_serves(c))
		return PURPOSE_SERVING;
	if (!argv_train(&argv))
		return PURPOSE_NONE;
	return launches_server(c, &argv) ? PURPOSE_SERVING : PURPOSE_TRAINING;
}

/* Returns the purpose of the first main container that has one. */
static enum pod_purpose find_purpose(const struct pod *pod)
{
	enum pod_purpose purpose = PURPOSE_NONE;

	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && purpose == PURPOSE_NONE)
			purpose = container_purpose(c);
	return purpose;
}

static enum pod_purpose pod_purpose(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo->purpose_known) {
		memo->purpose = find_purpose(pod);
		memo->purpose_known = true;
	}
	return memo->purpose;
}

bool pod_is_training(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct workload_operator *by = object_operator(object);
	enum tri trains = by->trains ? by->trains(object) : TRI_UNKNOWN;

	switch (object->class) {
	case KIND_TRAINING:
		return !by->runs_anything || trains == TRI_YES ||
		       pod_purpose(pod) == PURPOSE_TRAINING;
	case KIND_SERVING:
	case KIND_DAEMON:
		return false;
	default:
		break;
	}
	if (pod_purpose(pod) == PURPOSE_TRAINING)
		return true;
	return trains == TRI_YES && pod_purpose(pod) == PURPOSE_NONE &&
	       !pod_may_serve(pod);
}

bool pod_is_launcher(const struct pod *pod)
{
	const struct workload_operator *by = object_operator(pod->object);

	return by->is_launcher && by->is_launcher(pod);
}

bool pod_follows_devices(const struct pod *pod)
{
	const struct workload_operator *by = object_operator(pod->object);

	if (!by->shares_domain || !by->shares_domain(pod))
		return pod->injects & INJECT_GPU_NODES;
	FOR_EACH_POD(pod->object, other)
		if (pod_uses_gpu(other) == TRI_YES)
			return true;
	return false;
}

static bool listens(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    node_count(node_get(c->node, "ports")))
			return true;
	return false;
}

bool pod_is_serving(const struct pod *pod)
{
	const struct object *object = pod->object;
	enum pod_purpose purpose;

	if (object->class == KIND_SERVING ||
	    object_kind_has(object, KIND_SERVES))
		return true;
	if (object->class == KIND_TRAINING || object->class == KIND_DAEMON)
		return false;
	purpose = pod_purpose(pod);
	if (purpose != PURPOSE_NONE)
		return purpose == PURPOSE_SERVING;
	return object->class == KIND_SERVICE && listens(pod);
}

/* True for a pod with an infrastructure image, unless another of its containers
 * may use a device; the image is then that of a sidecar, such as an
 * exporter. */
static bool find_infrastructure(const struct pod *pod)
{
	bool found = false;

	FOR_EACH_CONTAINER(pod, c) {
		if (container_image(c).infrastructure)
			found = true;
		else if (container_uses_gpu(c) != TRI_NO)
			return false;
	}
	return found;
}

static bool runs_infrastructure(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo->infrastructure_known) {
		memo->infrastructure = find_infrastructure(pod);
		memo->infrastructure_known = true;
	}
	return memo->infrastructure;
}

/* Namespaces that are infrastructure if the policy lacks the key. */
static const char *const infrastructure_default[] = {
	"kube-system", "gpu-operator", "nvidia-gpu-operator",
	"nvidia-device-plugin", NULL};

enum tri namespace_is_infrastructure(const struct kube_config *config,
				     const char *namespace)
{
	const char *const *names = config->infrastructure;

	if (!namespace)
		return TRI_UNKNOWN;
	return tri_from(text_any(
		namespace, names ? names : infrastructure_default, text_eq));
}

bool pod_is_infrastructure(const struct pod *pod)
{
	if (pod->object->infrastructure != TRI_UNKNOWN)
		return pod->object->infrastructure == TRI_YES;
	return (pod->object->class == KIND_DAEMON &&
		pod_purpose(pod) != PURPOSE_SERVING) ||
	       runs_infrastructure(pod);
}

static bool images_are_infrastructure(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (!container_image(c).infrastructure)
			return false;
	return pod->ncontainers > 0;
}

static bool namespace_matches(const char *pattern, const char *namespace)
{
	struct err err = {0};
	struct glob *glob = glob_compile(pattern, GLOB_NAME, &err);
	bool matched = glob && glob_match(glob, namespace);

	glob_free(glob);
	return matched;
}

bool pod_in_namespaces(struct arena *arena, const struct pod *pod,
		       const char *namespaces)
{
	const char *namespace = pod->object->namespace;

	while (namespace && *namespaces) {
		size_t len = strcspn(namespaces, ",");

		if (namespace_matches(arena_strndup(arena, namespaces, len),
				      namespace))
			return true;
		namespaces += len;
		namespaces += *namespaces == ',';
	}
	return false;
}

/* True if the value contains a word for tests. `bats` is the Bash Automated
 * Testing System. */
static bool value_says_test(const char *value)
{
	static const char *const words[] = {"test", "tests", "testing", "e2e",
					    NULL};

	if (text_starts(value, "bats"))
		return true;
	while (value && *value) {
		size_t n = strcspn(value, "-_.");

		for (const char *const *word = words; *word; word++)
			if (strlen(*word) == n && !strncmp(value, *word, n))
				return true;
		value += n + (value[n] != '\0');
	}
	return false;
}

static bool label_says_test(const struct node *label)
{
	static const char *const keys[] = {"env",   "environment", "purpose",
					   "queue", "queue-name",  NULL};
	const char *slash = label->key ? strrchr(label->key, '/') : NULL;
	const char *name = slash ? slash + 1 : label->key;

	return text_any(name, keys, text_eq) &&
	       value_says_test(node_str(label));
}

bool pod_is_test(const struct pod *pod)
{
	FOR_EACH_CHILD(node_path(pod->object->root, "metadata.labels"), label)
		if (label_says_test(label))
			return true;
	FOR_EACH_CHILD(pod->labels, label)
		if (label_says_test(label))
			return true;
	return false;
}

const char *pod_infrastructure_hint(const struct pod *pod)
{
	if (pod->object->class != KIND_DAEMON && !runs_infrastructure(pod))
		return "";
	return " If this is a device plugin, a driver or monitoring, list "
	       "its namespace under `infrastructure` in the policy.";
}

bool pod_is_trusted(const struct pod *pod)
{
	if (pod->object->infrastructure != TRI_UNKNOWN)
		return pod->object->infrastructure == TRI_YES;
	return pod->object->class == KIND_DAEMON ||
	       images_are_infrastructure(pod);
}

/* -- selectors ----------------------------------------------------------- */

/* True for a value that says that nodes have no devices: "", `false` or `0`, or
 * for labels of no vendor, which a site defines, also `none`, `no` or `cpu`. */
static bool says_no(const struct node_label *label, const char *text)
{
	if (!*text || !strcmp(text, "false") || !strcmp(text, "0"))
		return true;
	return !label->vendor && (!strcmp(text, "none") ||
				  !strcmp(text, "no") || !strcmp(text, "cpu"));
}

/* True if only nodes with devices have this value of the label, or if the value
 * is unknown, except for an unknown instance type. */
static bool value_pins(const struct node_label *label, const struct node *value)
{
	const char *text = node_str(value);

	if (!text)
		return node_is_unknown(value) &&
		       label->meaning != LABEL_INSTANCE;
	if (says_no(label, text))
		return false;
	if (label->meaning == LABEL_INSTANCE) {
		const struct instance_type *type = instance_type_find(text);

		return type && type->accelerators > 0;
	}
	return true;
}

static const struct node_label *pinning_label(const char *key)
{
	const struct node_label *label = key ? node_label_find(key) : NULL;

	if (!label)
		return NULL;
	switch (label->meaning) {
	case LABEL_PRODUCT:
	case LABEL_PRESENCE:
	case LABEL_COUNT:
	case LABEL_INSTANCE:
	case LABEL_TOPOLOGY:
		return label;
	default:
		return NULL;
	}
}

/* Checks one matchExpression. If it restricts the pod to accelerator nodes,
 * returns its `key` node and sets *label; else returns NULL. */
static const struct node *expression_pins(const struct node *expression,
					  const struct node_label **label)
{
	const struct node *key = node_get(expression, "key");
	const struct node *op = node_get(expression, "operator");
	const struct node_label *row = pinning_label(node_str(key));
	const struct node *values = node_get(expression, "values");

	if (!row)
		return NULL;
	if (node_eq(op, "In")) {
		FOR_EACH_CHILD(values, value)
			if (!value_pins(row, value))
				return NULL;
		if (!node_count(values))
			return NULL;
	} else if (row->meaning == LABEL_INSTANCE ||
		   (!node_eq(op, "Exists") && !node_eq(op, "Gt"))) {
		return NULL;
	}
	*label = row;
	return key;
}

static const struct node *term_pins(const struct node *term,
				    const struct node_label **label)
{
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), expression) {
		const struct node *key = expression_pins(expression, label);

		if (key)
			return key;
	}
	return NULL;
}

const struct node *pod_gpu_selector(const struct pod *pod,
				    const struct node_label **label)
{
	static const char required[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";
	const struct node *first = NULL;
	const struct node_label *row = NULL, *unused;
	const struct node *terms;

	FOR_EACH_CHILD(pod_field(pod, "nodeSelector"), value) {
		row = pinning_label(value->key);
		if (row && value_pins(row, value)) {
			if (label)
				*label = row;
			return value;
		}
	}
	row = NULL;
	terms = node_get(node_path(pod_field(pod, "affinity"), required),
			 "nodeSelectorTerms");
	/* Terms are alternatives, so each of them must restrict the pod. */
	FOR_EACH_CHILD(terms, term) {
		const struct node *key =
			term_pins(term, first ? &unused : &row);

		if (!key)
			return NULL;
		if (!first)
			first = key;
	}
	if (first && label)
		*label = row;
	return first;
}

const char *gpu_selector_key(const struct node *selector)
{
	return text_eq(selector->key, "key") ? node_str(selector)
					     : selector->key;
}
