/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as flow YAML for tests, without quotes to escape.
 */
#ifndef TESTS_VALUE_READING_H
#define TESTS_VALUE_READING_H

#include "json_reading.h"

static inline struct node *read_value(struct reading *reading, const char *text)
{
	struct node *node;

	reading_init(reading, text, strlen(text));
	reading->limits = load_limits_default;
	node = yaml_read(&reading->loader, 0, (uint32_t)reading->source.len);
	assert_non_null(node);
	return node;
}

/* Checks that both are the same value, however they are written. */
static inline void assert_same(const struct node *node, const char *text)
{
	struct reading reading;
	struct buf wanted;

	buf_init(&wanted);
	node_json(read_value(&reading, text), &wanted);
	assert_value(node, wanted.data);
	buf_release(&wanted);
	reading_release(&reading);
}

#endif
