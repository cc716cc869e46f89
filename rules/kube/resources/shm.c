/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory. The runtime's default /dev/shm has 64 MiB; PyTorch's data
 * loaders and NCCL (without P2P) exchange tensors through it. Operators that
 * mount /dev/shm are listed in data/kinds.txt and operators/: KubeRay for
 * containers[0] unless plasma-directory is set, KServe's presets, NIM, Dynamo,
 * KAITO.
 */
#include "kube/resources/volume.h"

#include <stdlib.h>

#include "doc/edit.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"
#include "rules/kube/operator.h"

static struct shm find_shm(const struct container *c)
{
	struct shm shm = {.mount = container_mount(c, SHM_PATH)};
	const struct node *mounts = node_get(c->node, "volumeMounts");
	const struct node *name = node_get(shm.mount, "name");
	const struct node *medium;

	shm.unknown = node_is_unknown(mounts) || node_is_unknown(name) ||
		      node_is_unknown(pod_field(c->pod, "volumes"));
	if (!shm.mount || !node_str(name))
		return shm;
	shm.volume = pod_volume(c->pod, node_str(name));
	shm.empty_dir = node_get(shm.volume, "emptyDir");
	medium = node_get(shm.empty_dir, "medium");
	shm.unknown |= node_is_unknown(shm.volume) || node_is_unknown(medium);
	shm.memory = node_eq(medium, "Memory");
	shm.size_node = node_get(shm.empty_dir, "sizeLimit");
	shm.size_state = node_quantity(shm.size_node, &shm.size);
	return shm;
}

struct shm container_shm(const struct container *c)
{
	struct container_memo *memo = c->memo;
	struct shm *shm;

	if (!memo->shm) {
		shm = ARENA_NEW(c->pod->memo->arena, struct shm);
		*shm = find_shm(c);
		memo->shm = shm;
	}
	return *memo->shm;
}

bool shm_is_injected(const struct container *c)
{
	unsigned injects = c->pod->injects;

	if (injects & (INJECT_SHM | INJECT_SHM_UNKNOWN))
		return true;
	return injects & INJECT_SHM_FIRST && c->role == CONTAINER_MAIN &&
	       c->index == 0;
}

/* Programs that start several training processes. */
static const char *const starters[] = {"torchrun",
				       "torch.distributed.run",
				       "torch.distributed.launch",
				       "accelerate",
				       "deepspeed",
				       "horovodrun",
				       NULL};
/* Communication tests, which load no data. */
static const char *const collective_tests[] = {
	"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf",
	"alltoall_perf",   "sendrecv_perf",   NULL};

/* Servers with one process per device, which share the tensors of a model
 * through memory. With one device, they have one process. */
static const char *const servers[] = {"vllm",
				      "vllm.entrypoints.openai.api_server",
				      "vllm.entrypoints.api_server",
				      "sglang.launch_server",
				      "text-generation-launcher",
				      "tritonserver",
				      "trtllm-serve",
				      "lmdeploy",
				      "dynamo.vllm",
				      "dynamo.sglang",
				      "dynamo.trtllm",
				      NULL};

static const char *const server_images[] = {
	"vllm",		"text-generation-inference",
	"sglang",	"lmdeploy",
	"tritonserver", "trtllm",
	"tensorrt-llm", NULL};

/* True for images of frameworks whose data loaders are separate processes. */
static bool has_loaders(const char *image)
{
	static const char *const names[] = {
		"torch", "nemo", "megatron", "huggingface", "axolotl", NULL};

	return text_any(image, names, text_contains_ci);
}

/* True if the kind is made for training, or if several pods need each other and
 * train, as in JobSets. In a kind that also runs other work, the pod itself
 * must train. */
static bool made_for_training(const struct pod *pod)
{
	const struct object *o = pod->object;

	if (o->class == KIND_TRAINING)
		return !object_operator(o)->runs_anything ||
		       pod_is_training(pod);
	return o->gang_kind != GANG_NONE && o->gang.n > 1 &&
	       pod_is_training(pod);
}

/* True if one model is split among several devices of the container, or of a
 * group of pods, which Ray then connects by its object store. */
static bool spreads_model(const struct container *c)
{
	const struct object *object = c->pod->object;

	return c->gpus.n >= 2 ||
	       (object_operator(object)->ranks_are_pods && object->gang.n > 1);
}

/* True if a launcher starts the ranks, so that their commands are not in the
 * manifest. */
static bool has_launcher(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (pod_is_launcher(pod))
			return true;
	return false;
}

static bool trains(const struct container *c)
{
	const struct workload_operator *by = object_operator(c->pod->object);

	if (has_launcher(c->pod->object) ||
	    (by->loads_in_threads && by->loads_in_threads(c->pod->object)))
		return false;
	return made_for_training(c->pod) ||
	       (has_loaders(c->image) && pod_is_training(c->pod));
}

/* True for devices whose communication libraries do not use /dev/shm. NCCL,
 * RCCL and similar libraries do; libtpu and Neuron do not, because one process
 * uses all devices of a host. */
static bool has_own_links(const struct container *c)
{
	const char *vendor = c->accelerator ? c->accelerator->vendor : NULL;

	return text_eq(vendor, "google") || text_eq(vendor, "aws");
}

/* True if NCCL, or RCCL, does not use shared memory. Source: NCCL v2.27
 * src/transport/shm.cc, shmCanConnect (NCCL_SHM_DISABLE is 1). */
static bool disables_nccl_shm(const struct container *c)
{
	return text_eq(container_env_text(c, "NCCL_SHM_DISABLE"), "1");
}

/* True for devices with NCCL, or with RCCL, its equivalent for AMD, which
 * exchange data through shared memory. */
static bool has_nccl(const struct container *c)
{
	const char *vendor = c->accelerator ? c->accelerator->vendor : "nvidia";

	return (text_eq(vendor, "nvidia") || text_eq(vendor, "amd")) &&
	       !disables_nccl_shm(c);
}

/* True for media servers, which encode each stream on one device. */
static bool encodes_media(const struct container *c)
{
	static const char *const names[] = {"jellyfin", "plex", "emby", "tdarr",
					    NULL};

	return text_any(c->image, names, text_contains_ci);
}

/* True for programs that give each device its own layers or frames, without
 * NCCL: llama.cpp (by default, `--split-mode layer`), Ollama, Blender. */
static bool divides_work(const struct container *c)
{
	static const char *const names[] = {"llama.cpp", "llama-cpp", "ollama",
					    "blender",	 "/bpy",      NULL};
	static const char *const programs[] = {
		"llama-server", "ollama", "llama_cpp.server", "blender", NULL};
	struct argv argv = container_argv(c);

	return text_any(c->image, names, text_contains_ci) ||
	       text_contains_ci(c->name, "ollama") ||
	       argv_have_any(&argv, programs);
}

/*
 * True for a container with a CPU image, one that only lists or tests devices,
 * one whose script has one process, and one that sleeps until a user logs in,
 * unless a launcher starts ranks in workers that sleep. A standalone
 * PodTemplate never runs; other objects only read its requests
 * (ProvisioningRequest).
 */
static bool exchanges_nothing(const struct container *c)
{
	const struct object *object = c->pod->object;
	struct container_command command = container_command(c);

	if (image_is_cpu(c->image) || object_is(object, "", "PodTemplate"))
		return true;
	if (command.type == COMMAND_WAITS)
		return !object_operator(object)->starts_ranks_elsewhere;
	return container_tests_devices(c) || container_script_is_one_process(c);
}

/* Returns the number of loader processes, as in `--workers=0`; -1 if no flag
 * sets a number. */
static int64_t loader_workers(const struct argv *argv)
{
	static const char *const flags[] = {"--workers", "--num-workers",
					    "--dataloader-num-workers", NULL};

	for (const char *const *flag = flags; *flag; flag++) {
		const char *n = argv_flag(argv, *flag, NULL);

		if (n && *n && strspn(n, "0123456789") == strlen(n))
			return strtoll(n, NULL, 10);
	}
	return -1;
}

static bool uses_gloo(const struct argv *argv)
{
	return text_eq(argv_flag(argv, "--backend", NULL), "gloo") ||
	       text_eq(argv_flag(argv, "--dist-backend", NULL), "gloo");
}

static struct shm_need needed(const char *by)
{
	return (struct shm_need){SHM_NEEDED, by};
}

static struct shm_need depends(const char *by)
{
	return (struct shm_need){SHM_DEPENDS, by};
}

static const struct shm_need not_needed = {SHM_NOT_NEEDED, NULL};

/* Returns the need of a training container. Ranks in different containers
 * communicate over the network, not through /dev/shm. */
static struct shm_need training_need(const struct container *c,
				     const struct argv *argv)
{
	int64_t workers = loader_workers(argv);
	bool collectives = c->gpus.n >= 2 && has_nccl(c) && !uses_gloo(argv);

	if (workers > 0)
		return needed("data loader workers exchange data through it");
	if (collectives)
		return needed(
			workers ? "data loader workers and NCCL exchange data through it"
				: "NCCL exchanges data through it");
	if (!workers)
		return not_needed;
	return depends(
		"if the data loader has worker processes, they exchange data through it");
}

/* Returns the need of an unknown program. A process of JAX uses all devices and
 * loads data in threads. A process uses only one MIG instance, and by default
 * NCCL rejects two instances of one GPU. */
static struct shm_need unknown_need(const struct container *c)
{
	if (c->gpus.n < 2 || disables_nccl_shm(c) || encodes_media(c) ||
	    divides_work(c) ||
	    (c->accelerator && c->accelerator->class == ACCEL_MIG))
		return not_needed;
	if (text_contains_ci(c->image, "jax"))
		return depends(
			"if the devices do not reach each other directly, NCCL exchanges data through it");
	return (struct shm_need){SHM_MAY_BE_NEEDED, NULL};
}

struct shm_need container_shm_need(const struct container *c)
{
	struct argv argv;

	if (c->gpus.n < 1 || exchanges_nothing(c))
		return not_needed;
	argv = container_argv(c);
	if (argv_have_any(&argv, starters))
		return training_need(c, &argv);
	if (argv_have_any(&argv, collective_tests))
		return c->gpus.n >= 2 && has_nccl(c)
			       ? needed("NCCL exchanges data through it")
			       : not_needed;
	if (argv_have_any(&argv, servers) ||
	    text_any(c->image, server_images, text_contains_ci))
		return spreads_model(c) && !has_own_links(c)
			       ? needed("the processes of one model exchange tensors through it")
			       : not_needed;
	if (has_own_links(c))
		return not_needed;
	return trains(c) ? training_need(c, &argv) : unknown_need(c);
}

const struct node *pod_shm_volume(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume) {
		const struct node *medium =
			node_get(node_get(volume, "emptyDir"), "medium");

		if (node_eq(medium, "Memory") &&
		    text_contains_ci(node_str(node_get(volume, "name")), "shm"))
			return volume;
	}
	return NULL;
}

static int64_t clamp(int64_t n, int64_t low, int64_t high)
{
	return n < low ? low : n > high ? high : n;
}

bool shm_default_size(const struct container *c, struct quantity *size)
{
	const int64_t gi = (int64_t)1 << 30;
	struct quantity limit;
	enum quantity_state state = container_bound(c, "memory", &limit, NULL);
	int64_t bytes;

	if (state == QUANTITY_ABSENT) {
		bytes = clamp(2 * c->pod->gpus.n, 2, 16) * gi;
	} else {
		if (state != QUANTITY_OK || quantity_value(limit) < 2 * gi)
			return false;
		/* Use whole gibibytes, as an author would write them. */
		bytes = clamp(quantity_value(limit) / 2 / gi, 1, 64) * gi;
	}
	*size = quantity_from(bytes);
	size->format = QUANTITY_BINARY;
	return true;
}

/* Containers that mount a volume at /dev/shm. */
struct shm_users {
	const struct node *volume;
	bool any, no_size; /* no_size: one of them has no shm_default_size() */
	struct quantity size; /* the smallest */
	bool limited, limit_unknown;
	struct quantity limit; /* the smallest memory limit */
};

static void add_user(struct shm_users *users, const struct container *c)
{
	struct quantity own;
	enum quantity_state state = container_bound(c, "memory", &own, NULL);

	if (state != QUANTITY_ABSENT && state != QUANTITY_OK) {
		users->limit_unknown = true;
	} else if (state == QUANTITY_OK &&
		   (!users->limited || quantity_cmp(own, users->limit) < 0)) {
		users->limited = true;
		users->limit = own;
	}
	if (!shm_default_size(c, &own))
		users->no_size = true;
	else if (!users->any || quantity_cmp(own, users->size) < 0)
		users->size = own;
	users->any = true;
}

/* Returns the volume's users, including `also`, which the fix adds. The
 * result for the last volume is kept, because rules ask for each container. */
static struct shm_users users_with(const struct container *also,
				   const struct node *volume)
{
	struct pod_memo *memo = also->pod->memo;
	struct shm_users users;

	if (!memo->shm_users)
		memo->shm_users = ARENA_NEW(memo->arena, struct shm_users);
	if (memo->shm_users->volume != volume) {
		*memo->shm_users = (struct shm_users){.volume = volume};
		FOR_EACH_CONTAINER(also->pod, c)
			if (volume && c->role != CONTAINER_INIT &&
			    container_shm(c).volume == volume)
				add_user(memo->shm_users, c);
	}
	users = *memo->shm_users;
	add_user(&users, also);
	return users;
}

bool shm_volume_size(const struct container *also, const struct node *volume,
		     struct quantity *size)
{
	struct shm_users users = users_with(also, volume);

	*size = users.size;
	return !users.no_size;
}

/* If the site allows it, CRI-O reads another size from an annotation:
 * pkg/annotations, ShmSize. */
bool container_lacks_shm(const struct container *c)
{
	const struct pod *pod = c->pod;

	return c->role != CONTAINER_INIT && c->gpus.n >= 1 &&
	       !shm_is_injected(c) && !container_shm(c).mount &&
	       !container_shm(c).unknown &&
	       container_shm_need(c).is != SHM_NOT_NEEDED &&
	       !pod_annotation(pod, "io.kubernetes.cri-o.ShmSize") &&
	       !pod_annotation(pod, "shm-size.crio.io");
}

bool shm_new_size(const struct pod *pod, struct quantity *size)
{
	bool any = false;

	FOR_EACH_CONTAINER(pod, c) {
		struct quantity own;

		if (c->role == CONTAINER_INIT || c->gpus.n < 1)
			continue;
		if (!shm_default_size(c, &own))
			return false;
		if (!any || quantity_cmp(own, *size) < 0)
			*size = own;
		any = true;
	}
	return any;
}

bool shm_size_fits(const struct container *also, const struct node *volume,
		   struct quantity size)
{
	struct shm_users users = users_with(also, volume);

	return !users.limit_unknown &&
	       (!users.limited || quantity_cmp(size, users.limit) < 0);
}

/* --- volumes for fixes --------------------------------------------------- */

struct node *shm_new_volume(struct arena *arena, const char *name,
			    const char *size)
{
	struct node *directory = edit_map(arena), *volume = edit_map(arena);

	edit_member_string(arena, directory, "medium", "Memory");
	edit_member_string(arena, directory, "sizeLimit", size);
	edit_member_string(arena, volume, "name", name);
	return edit_member(arena, volume, "emptyDir", directory);
}

struct node *shm_new_mount(struct arena *arena, const char *name)
{
	struct node *mount = edit_map(arena);

	edit_member_string(arena, mount, "name", name);
	return edit_member_string(arena, mount, "mountPath", SHM_PATH);
}

/* True if the volume is mounted only at /dev/shm, and in no init container.
 * Memory is charged to the container that writes to it, so a volume with other
 * files must stay on disk. */
static bool has_no_other_mount(const struct pod *pod, const struct node *volume)
{
	const char *name = node_str(node_get(volume, "name"));

	FOR_EACH_CONTAINER_OF_ALL(pod, c) {
		const struct node *mounts = node_get(c->node, "volumeMounts");
		const struct node *shm = container_shm(c).mount;

		FOR_EACH_CHILD(mounts, mount)
			if (node_eq(node_get(mount, "name"), name) &&
			    (mount != shm || c->role == CONTAINER_INIT))
				return false;
	}
	return true;
}

bool shm_has_volume_alone(const struct pod *pod, const struct node *volume)
{
	struct pod_memo *memo = pod->memo;

	if (!volume || memo->shm_volume != volume) {
		memo->shm_alone = has_no_other_mount(pod, volume);
		memo->shm_volume = volume;
	}
	return memo->shm_alone;
}
