/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the flags of programs that use several devices. Sources, by program:
 * torchrun: pytorch/torch/distributed/run.py (PET_* variables:
 * argparse_util.py); tune run: pytorch/torchtune torchtune/_cli/run.py;
 * accelerate: huggingface/accelerate src/accelerate/commands/launch.py;
 * deepspeed: deepspeedai/DeepSpeed deepspeed/launcher/runner.py; mpirun:
 * open-mpi/ompi docs/man-openmpi; horovodrun: runner/launch.py; vLLM:
 * vllm/engine/arg_utils.py, vllm/entrypoints/cli/serve.py; SGLang:
 * python/sglang/srt/server_args.py; TGI: huggingface/text-generation-inference
 * launcher/src/main.rs; LMDeploy: lmdeploy/cli/serve.py, cli/utils.py;
 * TensorRT-LLM: tensorrt_llm/commands/serve.py; Triton: tensorrtllm_backend
 * scripts/launch_triton_server.py
 */
#include "rules/kube/operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "command_internal.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/command/server.h"
#include "kube/pod.h"

/* -- numbers --------------------------------------------------------------- */

static int64_t read_count(const char *text, const char **end)
{
	char *stop;
	long n;

	if (*text < '0' || *text > '9')
		return 0;
	n = strtol(text, &stop, 10);
	*end = stop;
	return n > 0 && n <= 1000000 ? n : 0;
}

/* Reads "4", a range such as "2:4", or "gpu" or "auto" for all devices.
 * Anything else is unknown. */
static void degree_read(struct degree *degree, const char *text)
{
	const char *end = NULL;

	degree->unknown = degree->all = false;
	degree->n = degree->max = 0;
	if (text_eq(text, "gpu") || text_eq(text, "auto")) {
		degree->all = true;
		return;
	}
	degree->n = degree->max = text ? read_count(text, &end) : 0;
	if (degree->n && *end == ':')
		degree->max = read_count(end + 1, &end);
	degree->unknown = !degree->max || *end || degree->max < degree->n;
}

/* -- variables ------------------------------------------------------------- */

static const char *variable(const struct container *c, const char *name)
{
	bool set;
	const char *value = assigned_value(c, name, &set);

	if (set)
		return value;
	value = container_env_text(c, name);
	return value && !strchr(value, '$') ? value : NULL;
}

/* -- a program's words ----------------------------------------------------- */

/* True for a word that may precede the program in its command. */
static bool is_wrapper(const struct arg *arg, const struct arg *before)
{
	static const char *const names[] = {
		"exec",	   "env",  "nohup", "time", "timeout", "numactl",
		"sudo",	   "nice", "tini",  "uv",   "run",     "poetry",
		"conda",   "nsys", "sh",    "bash", "if",      "then",
		"do",	   "else", "while", "{",    "stdbuf",  "profile",
		"rocprof", NULL};
	const char *text = arg->text;

	if (!text || *text == '-' || strchr(text, '='))
		return true;
	/* The word is the value of the option before it, or a number. */
	if (before && before->text && *before->text == '-')
		return true;
	if (*text >= '0' && *text <= '9')
		return true;
	if (!strncmp(arg->base, "python", 6))
		return true;
	for (const char *const *name = names; *name; name++)
		if (!strcmp(arg->base, *name))
			return true;
	return false;
}

static bool is_program(const struct parallel_program *program,
		       const struct argv *argv, size_t i)
{
	for (const char *const *word = program->words.names; *word; word++) {
		if (!text_eq(argv->items[i].base, *word))
			continue;
		if (!program->then)
			return true;
		return i + 1 < argv->n &&
		       text_eq(argv->items[i + 1].text, program->then);
	}
	return false;
}

static const struct parallel_program *program_find(const struct argv *argv,
						   size_t *at)
{
	for (size_t i = 0; i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];

		if (!arg->text)
			continue;
		for (const struct parallel_program *program = parallel_programs;
		     program->name; program++) {
			if (!is_program(program, argv, i))
				continue;
			*at = i;
			return program;
		}
		if (!is_wrapper(arg, i ? arg - 1 : NULL))
			return NULL;
	}
	return NULL;
}

/* Returns the program that the image or KServe's runtime starts; NULL if it is
 * unknown or the container sets a command. */
static const struct parallel_program *
program_of_image(const struct container *c)
{
	const char *format = node_str(node_path(c->node, "modelFormat.name"));

	if (!node_is_unset(node_get(c->node, "command")))
		return NULL;
	for (const struct parallel_program *program = parallel_programs;
	     program->name; program++) {
		if (program->image && c->image &&
		    strstr(c->image, program->image))
			return program;
		if (program->format && text_eq(format, program->format))
			return program;
	}
	return NULL;
}

/* True for `args: [bash, -c, ...]`, which are written for another entrypoint
 * than the program. */
static bool names_wrapper(const struct argv *words)
{
	const char *text = words->n ? words->items[0].text : NULL;

	return text && *text != '-' && !strchr(text, '=') &&
	       (*text < '0' || *text > '9') &&
	       is_wrapper(&words->items[0], NULL);
}

/* Returns the end of a launcher's own words, after which those of its script
 * begin. The script is the first word if that is not a flag, else the first one
 * that ends in .py or .sh. -m, --module and --config end the words as well,
 * because the name of a module or of torchtune's recipe has no suffix. */
static size_t launcher_end(const struct argv *argv, size_t from)
{
	if (from < argv->n && argv->items[from].text &&
	    *argv->items[from].text != '-')
		return from;
	for (size_t i = from; i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];
		size_t len = arg->text ? strlen(arg->text) : 0;

		if (text_eq(arg->text, "-m") ||
		    text_eq(arg->text, "--module") ||
		    text_eq(arg->text, "--config"))
			return i;
		if (len > 3 && *arg->text != '-' &&
		    (!strcmp(arg->text + len - 3, ".py") ||
		     !strcmp(arg->text + len - 3, ".sh")))
			return i;
	}
	return argv->n;
}

/* -- reading --------------------------------------------------------------- */

struct reader {
	struct arena *arena;
	const struct container *c;
	struct argv words; /* words after the program's name */
	struct parallel *out;
};

/* Returns mpirun's words up to the first occurrence of the flag and its value,
 * after which the words of the started program may begin. */
static struct argv up_to_first(const struct argv *words, const char *flag)
{
	struct argv out = *words;
	size_t len = strlen(flag);

	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->items[i].text;

		if (!text || strncmp(text, flag, len) ||
		    (text[len] && text[len] != '='))
			continue;
		out.n = i + 2 < words->n ? i + 2 : words->n;
		break;
	}
	return out;
}

static void read_flag(struct reader *reader, const struct parallel_flag *flag)
{
	struct degree *degree = &reader->out->degrees[flag->of];
	struct argv words = reader->words;
	const struct arg *arg;
	const char *value;

	if (reader->out->type == PARALLEL_MPI)
		words = up_to_first(&words, flag->name);
	value = argv_flag(&words, flag->name, &arg);
	if (!arg)
		return;
	if (!value && arg->variable)
		value = variable(reader->c, arg->variable);
	degree_read(degree, value);
	degree->given = true;
	degree->by = flag->name;
	degree->node = arg->node;
}

static void read_variable(struct reader *reader,
			  const struct parallel_flag *flag)
{
	struct degree *degree = &reader->out->degrees[flag->of];
	const struct node *entry = container_env(reader->c, flag->name);
	bool set;
	const char *value = assigned_value(reader->c, flag->name, &set);

	if (degree->given || (!entry && !set))
		return;
	if (!set)
		value = variable(reader->c, flag->name);
	degree_read(degree, value);
	degree->given = true;
	degree->by = flag->name;
	degree->node = node_get(entry, "value");
	if (!degree->node)
		degree->node = entry ? entry : reader->out->node;
}

/* Reads the flags and variables of a program. Its rows are adjacent, in the
 * order of the programs' ids; a variable follows the flag of the same
 * meaning. */
static void read_degrees(struct reader *reader, enum parallel_id program)
{
	for (const struct parallel_flag *flag = parallel_flags;
	     flag->name && flag->program <= program; flag++) {
		if (flag->program != program)
			continue;
		if (*flag->name == '-')
			read_flag(reader, flag);
		else
			read_variable(reader, flag);
	}
}

/*
 * True if the server starts Ray itself, and no Ray cluster can run beside it:
 * it is the program of the pod's only container, after no script or unknown
 * entrypoint, and RAY_ADDRESS names no other host. Ray then has the devices of
 * the container (vllm v0.11.0 vllm/executor/ray_utils.py,
 * initialize_ray_cluster()). The kinds are those whose operators start no Ray.
 */
static bool has_own_ray(const struct reader *reader)
{
	const struct container *c = reader->c;
	const struct object *object = c->pod->object;
	struct env_value address = container_env_value(c, "RAY_ADDRESS");
	struct argv words = container_argv(c);
	bool known = !node_is_unset(node_get(c->node, "command")) ||
		     text_contains(c->image, "vllm/vllm-openai");

	for (size_t i = 0; i < words.n; i++)
		known &= !words.items[i].first;
	return known &&
	       (object_kind_has(object, KIND_NATIVE) ||
		object_is(object, "leaderworkerset.x-k8s.io",
			  "LeaderWorkerSet") ||
		object_is(object, "jobset.x-k8s.io", "JobSet")) &&
	       pod_only_container(c->pod) == c &&
	       node_is_unset(node_get(c->node, "lifecycle")) &&
	       !container_env_from(c, "RAY_ADDRESS") &&
	       (address.state == ENV_UNSET || text_eq(address.text, "auto") ||
		text_eq(address.text, "local"));
}

/* True if the program may use other nodes: with a backend such as Ray
 * (`--distributed-executor-backend ray`), with several nodes if they share the
 * shards, or with one of the program's own flags for that. */
static bool spreads(const struct reader *reader,
		    const struct parallel_program *program)
{
	const struct degree *nodes = &reader->out->degrees[DEGREE_NODES];
	const struct arg *arg;
	const char *backend = argv_flag(&reader->words,
					"--distributed-executor-backend", &arg);

	reader->out->alone = text_eq(backend, "ray") && has_own_ray(reader);
	if (arg && !reader->out->alone && !text_eq(backend, "mp") &&
	    !text_eq(backend, "uni"))
		return true;
	if (nodes->given && !program->per_node &&
	    (nodes->unknown || nodes->n > 1))
		return true;
	return program->spread &&
	       argv_have_any(&reader->words, program->spread);
}

static bool is_for_cpu(const struct argv *words)
{
	static const char *const flags[] = {"device", "backend", "dist-backend",
					    NULL};

	for (const char *const *flag = flags; *flag; flag++) {
		const char *value = argv_flag(words, *flag, NULL);

		if (text_eq(value, "cpu") || text_eq(value, "gloo"))
			return true;
	}
	return argv_have(words, "device=cpu") || argv_have(words, "--cpu") ||
	       argv_have(words, "--use-cpu") || argv_have(words, "--no-cuda");
}

/* True for a word that may be any flag. A variable with a known value is not,
 * unless the value is a flag or has several words. */
static bool is_any(const struct reader *reader, const struct arg *arg)
{
	const char *value;

	if (!arg->any || !arg->variable)
		return arg->any;
	value = variable(reader->c, arg->variable);
	return !value || *value == '-' || strchr(value, ' ');
}

static void command_read(struct reader *reader,
			 const struct parallel_program *program,
			 struct parallel *out)
{
	struct argv all = reader->words;

	*out = (struct parallel){.type = program->type,
				 .program = program->name,
				 .node = out->node};
	reader->out = out;
	out->degrees[DEGREE_TENSOR].all = program->takes_all;
	out->cpu = is_for_cpu(&all);
	if (program->type == PARALLEL_LAUNCHER)
		reader->words.n = launcher_end(&all, program->then ? 1 : 0);
	read_degrees(reader, program->id);
	/* With this flag, the copies of the attention layers use the same
	 * devices as the shards. */
	if (argv_have(&reader->words, "--enable-dp-attention"))
		out->degrees[DEGREE_DATA].given = false;
	out->spread = spreads(reader, program);
	for (size_t i = 0; i < reader->words.n; i++)
		out->unknown |= is_any(reader, &all.items[i]);
	if (!node_is_unset(node_get(reader->c->node, "envFrom")) &&
	    program->by_env)
		out->unknown = true;
}

/* Returns the end of the command that starts at the word. */
static size_t command_end(const struct argv *argv, size_t from)
{
	size_t end = from + 1;

	while (end < argv->n && !argv->items[end].first)
		end++;
	return end;
}

/* Returns the words from an index on. Index 0 adds nothing to `items`, which
 * may be NULL then. */
static struct argv words_from(struct argv words, size_t from)
{
	if (from) {
		words.items += from;
		words.n -= from;
	}
	return words;
}

/* True if the command contains the name of one of the programs. Most commands
 * do not. */
static bool may_be_parallel(const struct argv *argv)
{
	for (struct parallel_program *program = parallel_programs;
	     program->name; program++)
		if (argv_have_name(argv, &program->words))
			return true;
	return false;
}

/* Sets a degree from a field of the kind, unless the field is unset or a flag
 * sets the degree. */
static void read_field(struct degree *degree, const struct node *field)
{
	struct amount n = amount_int(field, 0);

	if (degree->given || node_is_unset(field))
		return;
	*degree = (struct degree){.given = true,
				  .unknown = n.unknown || n.n < 1,
				  .n = n.n,
				  .max = n.n,
				  .by = field->key,
				  .node = field};
}

static struct vllm_settings vllm_of(const struct container *c)
{
	const struct workload_operator *by = object_operator(c->pod->object);

	return by->vllm ? by->vllm(c) : (struct vllm_settings){0};
}

/* Reads the words and the fields of a container for which the operator writes
 * the command of vLLM. */
static void read_vllm(struct arena *arena, const struct container *c,
		      const struct vllm_settings *by, struct parallel_list *out)
{
	struct reader reader = {arena, c, container_argv(c), NULL};
	struct parallel *parallel =
		VEC_PUSH(arena, out->items, out->n, out->size);
	const struct parallel_program *program = parallel_programs;

	while (program->id != ID_VLLM)
		program++;
	parallel->node = c->node;
	command_read(&reader, program, parallel);
	if (!parallel->degrees[DEGREE_TENSOR].given) {
		parallel->program = by->program;
		parallel->versions = by->versions;
	}
	parallel->one_pod = by->one_pod;
	read_field(&parallel->degrees[DEGREE_TENSOR], by->tensor);
	read_field(&parallel->degrees[DEGREE_LOCAL], by->local);
}

/* Limit on programs per container, because rules read all words for each. Real
 * containers start fewer. */
enum { PROGRAMS_MAX = 64 };

static struct parallel_list read_commands(struct arena *arena,
					  const struct container *c)
{
	struct argv argv = container_argv(c);
	struct parallel_list out = {0};
	struct vllm_settings by = vllm_of(c);

	if (by.program) {
		read_vllm(arena, c, &by, &out);
		return out;
	}
	if (!may_be_parallel(&argv) && !program_of_image(c))
		return out;

	for (size_t i = 0, end; (i < argv.n || i == 0) && out.n < PROGRAMS_MAX;
	     i = end) {
		struct argv words = argv;
		struct reader reader = {arena, c, .words = {0}};
		const struct parallel_program *program;
		struct parallel *parallel;
		size_t at = 0;

		end = command_end(&argv, i);
		words = words_from(argv, i);
		words.n = argv.n ? end - i : 0;
		program = program_find(&words, &at);
		if (program)
			at++;
		else if (i == 0 && !names_wrapper(&words))
			program = program_of_image(c);
		if (!program)
			continue;
		parallel = VEC_PUSH(arena, out.items, out.n, out.size);
		parallel->node = at ? words.items[at - 1].node : c->node;
		reader.words = words_from(words, at);
		command_read(&reader, program, parallel);
	}
	return out;
}

/* Returns the container's list, computed once because several rules use it. */
struct parallel_list container_parallel(const struct container *c)
{
	struct container_memo *memo = c->memo;

	struct parallel_list *list;

	if (!memo->parallel) {
		list = ARENA_NEW(c->pod->memo->arena, struct parallel_list);
		*list = read_commands(c->pod->memo->arena, c);
		memo->parallel = list;
	}
	return *memo->parallel;
}

/* -- sums ------------------------------------------------------------------ */

static int64_t times(const struct parallel *parallel, enum degree_of of,
		     int64_t n, const struct degree **by)
{
	const struct degree *degree = &parallel->degrees[of];

	if (degree->unknown || degree->all)
		return 0;
	if (!degree->given)
		return n;
	if (!*by || degree->n > (*by)->n)
		*by = degree;
	return n * degree->n <= 1000000 ? n * degree->n : 0;
}

static int64_t server_devices(const struct parallel *parallel,
			      const struct degree **by)
{
	const struct degree *local = &parallel->degrees[DEGREE_LOCAL];
	const struct degree *nodes = &parallel->degrees[DEGREE_NODES];
	int64_t n = 1;

	n = times(parallel, DEGREE_TENSOR, n, by);
	n = times(parallel, DEGREE_PIPELINE, n, by);
	n = times(parallel, DEGREE_CONTEXT, n, by);
	if (nodes->given) {
		if (nodes->unknown || nodes->n != nodes->max || n % nodes->n)
			return 0;
		n /= nodes->n;
	}
	return times(parallel, local->given ? DEGREE_LOCAL : DEGREE_DATA, n,
		     by);
}

static int64_t launcher_devices(const struct parallel *parallel,
				const struct degree **by)
{
	const struct degree *total = &parallel->degrees[DEGREE_TOTAL];
	const struct degree *nodes = &parallel->degrees[DEGREE_NODES];
	int64_t n = times(parallel, DEGREE_PROCESSES, 1, by);

	if (!total->given)
		return *by ? n : 0;
	if (nodes->given && (nodes->unknown || nodes->n != nodes->max))
		return 0;
	n = times(parallel, DEGREE_TOTAL, n, by);
	if (nodes->given)
		n = n % nodes->n ? 0 : n / nodes->n;
	return n;
}

int64_t parallel_devices(const struct parallel *parallel,
			 const struct degree **by)
{
	const struct degree *largest = NULL;
	int64_t n = 0;

	if (!parallel->spread && !parallel->cpu)
		n = parallel->type == PARALLEL_SERVER
			    ? server_devices(parallel, &largest)
		    : parallel->type == PARALLEL_LAUNCHER
			    ? launcher_devices(parallel, &largest)
			    : 0;
	if (by)
		*by = largest;
	return n;
}

int64_t container_devices(const struct container *c)
{
	static const char *const vendors[] = {"nvidia", "amd", "intel",
					      "habana", NULL};

	if (!c->accelerator || c->accelerator->class != ACCEL_WHOLE ||
	    c->gpus.unknown ||
	    (c->pod->gpu_by != GPU_BY_RESOURCE &&
	     c->pod->gpu_by != (GPU_BY_OPERATOR | GPU_BY_FIELD)))
		return 0;
	return text_any(c->accelerator->vendor, vendors, text_eq) ? c->gpus.n
								  : 0;
}
