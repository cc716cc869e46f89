/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables made from rules/kube/data/ *.tsv, sorted by their first columns
 * (bytes). Images and device paths keep the order of the file, because the
 * first match counts.
 */
#ifndef RULES_KUBE_DATA_H
#define RULES_KUBE_DATA_H

#include "kube/accelerator.h"
#include "kube/command/env.h"
#include "kube/object.h"
#include "kube/resources/volume.h"
#include "kube/scheduling/node_devices.h"

struct data_pattern {
	const char *text;
};

struct device_path {
	const char *path;
	enum host_shows shows;
};

enum image_use { IMAGE_INFRASTRUCTURE, IMAGE_CPU, IMAGE_GPU };

struct image_pattern {
	enum image_use use;
	const char *text;
};

extern const struct accelerator data_accelerators[];
extern const size_t data_accelerators_n;
extern const char *const data_taints[]; /* each key once, NULL-terminated */
/* Slots of the hash tables. Prefix lists contain 1 + row number, from the last
 * row on, and end with 0: see accelerator.c. */
enum { DATA_SLOTS = 1024 };
struct data_slot {
	unsigned short row; /* 1 + row number; 0: empty */
	unsigned short tag; /* node_tag() of its name */
};
extern const struct data_slot data_accelerators_slots[DATA_SLOTS];
extern const unsigned short data_accelerators_prefixes[];
extern const struct data_pattern data_fabric[];
extern const size_t data_fabric_n;
extern const struct data_pattern data_reserved_domains[];
extern const size_t data_reserved_domains_n;
extern const struct node_label data_node_labels[];
extern const size_t data_node_labels_n;
extern const struct data_slot data_node_labels_slots[DATA_SLOTS];
extern const unsigned short data_node_labels_prefixes[];
extern const struct label_value data_label_values[];
extern const size_t data_label_values_n;
extern const struct instance_type data_instance_types[];
extern const size_t data_instance_types_n;
extern const struct data_slot data_instance_types_slots[DATA_SLOTS];
extern const unsigned short data_instance_types_prefixes[];
extern const struct removed_version data_removed_versions[];
extern const size_t data_removed_versions_n;
extern const struct product_size data_products[];
extern const size_t data_products_n;
extern const struct mig_profile data_mig_profiles[];
extern const size_t data_mig_profiles_n;
/* The first row that matches is used. */
extern const struct device_path data_device_paths[];
extern const size_t data_device_paths_n;
/* At most 64 patterns. Each pattern contains a pair of adjacent bytes, by which
 * it is found. The slot of pair_of() (accelerator.c) contains 1 + the number of
 * a row, and data_images_next the numbers of further rows with the same
 * pair. */
enum { DATA_PAIRS = 1024 };
extern const struct image_pattern data_images[];
extern const size_t data_images_n;
extern const unsigned char data_images_pairs[DATA_PAIRS];
extern const unsigned char data_images_next[];

#endif
