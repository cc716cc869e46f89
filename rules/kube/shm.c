/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory. The runtime's default /dev/shm is 64 MiB; PyTorch's data
 * loaders and NCCL (without P2P) exchange tensors through it. Who injects a
 * mount is known per kind (inject.c): KubeRay for containers[0] unless
 * plasma-directory is set, KServe's presets, NIM, Dynamo, KAITO.
 */
#include "kube/shm.h"

#include "base/text.h"
#include "doc/edit.h"
#include "kinds.h"
#include "kube/command.h"
#include "kube/lifecycle.h"

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

bool pod_is_multi_gpu(const struct pod *pod)
{
	return pod->gpus.n >= 2;
}

static const char *const images[] = {
	"pytorch",	"vllm",	    "text-generation-inference",
	"sglang",	"lmdeploy", "tritonserver",
	"deepspeed",	"nemo",	    "megatron",
	"huggingface",	"axolotl",  "accelerate",
	"tensorrt-llm", "trtllm",   "horovod",
};

static const char *const words_of_frameworks[] = {
	"torchrun",
	"torch.distributed.run",
	"torch.distributed.launch",
	"accelerate",
	"deepspeed",
	"vllm",
	"text-generation-launcher",
	"tritonserver",
	"sglang.launch_server",
	"horovodrun",
	"vllm.entrypoints.openai.api_server",
};

static bool framework_image(const char *image)
{
	for (size_t i = 0; image && i < sizeof(images) / sizeof(*images); i++)
		if (text_contains_ci(image, images[i]))
			return true;
	return false;
}

static bool framework_words(struct arena *arena, const struct container *c)
{
	struct words words = container_words(arena, c);

	for (size_t i = 0;
	     i < sizeof(words_of_frameworks) / sizeof(*words_of_frameworks);
	     i++)
		if (words_have(&words, words_of_frameworks[i]))
			return true;
	return false;
}

/* JobSet, Volcano: training when several pods need each other. */
static bool made_for_training(const struct pod *pod)
{
	const struct object *o = pod->object;

	if (o->class == KIND_TRAINING)
		return !text_eq(o->group, "batch.volcano.sh") ||
		       pod_is_training(pod);
	return o->gang_kind != GANG_NONE && o->gang.n > 1 &&
	       pod_is_training(pod);
}

/* The ranks of a LeaderWorkerSet's group stand in several pods. */
static bool has_several_ranks(const struct pod *pod)
{
	return pod_is_multi_gpu(pod) ||
	       (object_is(pod->object, "leaderworkerset.x-k8s.io",
			  "LeaderWorkerSet") &&
		pod->object->gang.n > 1);
}

/* NCCL, RCCL and their like use it; libtpu and Neuron do not. */
static bool collectives_use_shm(const struct container *c)
{
	return has_several_ranks(c->pod) && c->accelerator &&
	       !text_eq(c->accelerator->vendor, "google") &&
	       !text_eq(c->accelerator->vendor, "aws");
}

/* A container that only sleeps, for people to come in, does what its image is
 * made for. MPI's launchers start the ranks in workers that sleep. */
static bool only_waits(struct arena *arena, const struct container *c)
{
	return container_command(arena, c).sort == COMMAND_WAITS &&
	       !text_eq(c->pod->object->group, "kubeflow.org");
}

bool container_needs_shm(struct arena *arena, const struct container *c)
{
	if (c->gpus.n < 1)
		return false;
	if (framework_image(c->image) || container_env(c, "NCCL_DEBUG") ||
	    framework_words(arena, c))
		return true;
	return (collectives_use_shm(c) || made_for_training(c->pod)) &&
	       !only_waits(arena, c);
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
	enum quantity_state state = container_limit(c, "memory", &limit);
	int64_t bytes;

	if (state == QUANTITY_ABSENT) {
		bytes = clamp(2 * c->pod->gpus.n, 2, 16) * gi;
	} else {
		if (state != QUANTITY_OK || quantity_value(limit) < 2 * gi)
			return false;
		/* Whole gibibytes: what a person would write. */
		bytes = clamp(quantity_value(limit) / 2 / gi, 1, 64) * gi;
	}
	*size = quantity_from(bytes);
	size->format = QUANTITY_BINARY;
	return true;
}

/* Has the volume at /dev/shm, or is to have it there. */
static bool has_volume(const struct container *c, const struct node *volume,
		       const struct container *also)
{
	if (c == also)
		return true;
	return c->role != CONTAINER_INIT && volume &&
	       container_shm(c).volume == volume;
}

bool shm_volume_size(const struct container *also, const struct node *volume,
		     struct quantity *size)
{
	bool any = false;

	FOR_EACH_CONTAINER(also->pod, c) {
		struct quantity own;

		if (!has_volume(c, volume, also))
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
	FOR_EACH_CONTAINER(also->pod, c) {
		struct quantity limit;
		enum quantity_state state;

		if (!has_volume(c, volume, also))
			continue;
		state = container_limit(c, "memory", &limit);
		if (state != QUANTITY_ABSENT &&
		    (state != QUANTITY_OK || quantity_cmp(size, limit) >= 0))
			return false;
	}
	return true;
}

/* --- what repairs write -------------------------------------------------- */

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
