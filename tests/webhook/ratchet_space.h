/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The space of ratchet_model.c: objects with every way to take uncounted
 * devices, created and changed at random.
 */
#ifndef TESTS_RATCHET_SPACE_H
#define TESTS_RATCHET_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CONTAINERS = 3, VOLUMES = 2, MOUNTS = 2 };

enum form { POD, DEPLOYMENT, PYTORCHJOB, FORMS };
enum user { ALICE, ONCALL, CONTROLLER, USERS };

static const char *const envs[] = {NULL,  "void", "0",
				   "all", "1",	  "GPU-8932f937-d72c"};
static const char *const paths[] = {"/data", "/dev", "/dev/nvidia0", "/dev/dri",
				    "/dev/null"};
static const char *const ats[] = {"/m", "/var/run/nvidia-container-devices/0",
				  "/var/run/nvidia-container-devices/all"};
static const char *const notes[] = {NULL, "x=0", "x=all"};
static const char *const note_keys[] = {"cdi.k8s.io/a",
					"io.kubernetes.cri-o.Devices"};

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

struct box {
	bool there;
	int env, gpus;
	bool privileged;
	struct {
		bool there;
		int volume, at;
	} mounts[MOUNTS];
};

struct thing {
	enum form form;
	int replicas; /* replicas of an owner */
	/* the last container of a Pod is for debugging */
	struct box boxes[CONTAINERS];
	int volumes[VOLUMES];
	int note, note_key;
	bool dev, ticket, owned, leaving;
	int label;
};

static uint64_t seed;

static inline int any(int n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((seed >> 33) % (uint64_t)n);
}

static inline void any_box(struct box *box)
{
	memset(box, 0, sizeof(*box));
	box->there = any(2);
	box->env = any(3) ? 0 : any(COUNT(envs));
	box->gpus = any(3) ? 0 : any(3);
	box->privileged = !any(8);
	for (int i = 0; i < MOUNTS; i++) {
		box->mounts[i].there = !any(2);
		box->mounts[i].volume = any(VOLUMES);
		box->mounts[i].at = any(COUNT(ats));
	}
}

static inline void any_thing(struct thing *t)
{
	memset(t, 0, sizeof(*t));
	t->form = (enum form)any(FORMS);
	t->replicas = any(4);
	for (int i = 0; i < CONTAINERS; i++)
		any_box(&t->boxes[i]);
	t->boxes[0].there = true;
	t->boxes[CONTAINERS - 1].there &= t->form != POD;
	for (int i = 0; i < VOLUMES; i++)
		t->volumes[i] = any(COUNT(paths));
	t->note = any(3) ? 0 : any(COUNT(notes));
	t->note_key = any(COUNT(note_keys));
	t->dev = !any(4);
	t->ticket = !any(6);
	t->owned = t->form == POD && !any(3);
}

static inline void change_box(struct box *box)
{
	int i = any(MOUNTS);

	switch (any(6)) {
	case 0:
		box->env = any(COUNT(envs));
		break;
	case 1:
		box->gpus = any(3);
		break;
	case 2:
		box->mounts[i].at = any(COUNT(ats));
		break;
	case 3:
		box->mounts[i].there = !box->mounts[i].there;
		break;
	case 4:
		box->mounts[i].volume = any(VOLUMES);
		break;
	default:
		box->privileged = !any(3);
	}
}

static inline void change(struct thing *t)
{
	int i = any(CONTAINERS);

	switch (any(14)) {
	case 3:
		t->boxes[i].there = i == 0 || any(2);
		break;
	case 4:
		t->volumes[any(VOLUMES)] = any(COUNT(paths));
		break;
	case 5:
		t->replicas = any(4);
		break;
	case 6:
		t->note = any(COUNT(notes));
		t->note_key = any(COUNT(note_keys));
		break;
	case 7:
		t->dev = !t->dev;
		break;
	case 8:
		t->ticket = !any(4);
		break;
	case 9:
		t->label++;
		break;
	default:
		change_box(&t->boxes[i]);
	}
}

#endif
