/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts libyaml's positions into byte offsets. libyaml counts code points.
 * In ASCII text these are byte offsets; in other text, a cursor advances with
 * the positions, which rarely go back. kubectl removes one CR of a line that
 * ends in CR CR LF, so libyaml does not get the second one.
 */
#include "yaml.h"

#include <string.h>

static bool is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

bool yaml_is_cut(const struct yaml *yaml, uint32_t at)
{
	const char *p = yaml->text + at;

	return yaml->cut && at > yaml->start && yaml->end - at >= 2 &&
	       !memcmp(p - 1, "\r\r\n", 3);
}

uint32_t yaml_byte(const struct yaml *yaml, size_t n)
{
	uint32_t at = yaml->start + (uint32_t)n;

	for (uint32_t i = yaml->start; yaml->cut && i <= at && i < yaml->end;
	     i++)
		at += yaml_is_cut(yaml, i);
	return at;
}

uint32_t yaml_offset(struct yaml *yaml, size_t index)
{
	const char *text = yaml->text;
	uint32_t byte = yaml->byte;

	if (yaml->ascii) {
		size_t len = yaml->end - yaml->start;

		return yaml->start + (uint32_t)(index < len ? index : len);
	}
	for (; yaml->index < index && byte < yaml->end; yaml->index++)
		do
			byte++;
		while (byte < yaml->end && (is_continuation(text[byte]) ||
					    yaml_is_cut(yaml, byte)));
	for (; yaml->index > index && byte > yaml->start; yaml->index--)
		do
			byte--;
		while (byte > yaml->start && (is_continuation(text[byte]) ||
					      yaml_is_cut(yaml, byte)));
	return yaml->byte = byte;
}
