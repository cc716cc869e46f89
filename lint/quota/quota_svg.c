/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the map: a row for each namespace, a column for each resource. A cell
 * shows the quota with the least left. Its color shows the percentage that
 * would be used. Its bar shows the amount in use and the amount that the
 * manifests add, with a mark at the limit. Colors fit light and dark themes,
 * and everything that they show is also written. Text around the cells has the
 * text color of the page.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/term/escape.h"
#include "quota.h"

enum {
	CELL_WIDTH = 176,
	CELL_HEIGHT = 62,
	GAP = 4,
	TOP = 36, /* space above the cells, for names of resources */
	BAR_WIDTH = CELL_WIDTH - 24,
	CHAR_WIDTH = 8, /* largest width of a character in a name */
	NAME_CHARS = 28,
	RESOURCE_CHARS = 23,
	LEGEND = 84,
	LEAST_WIDTH = 868, /* width of the legend */
};

struct quota_map {
	const struct quota_table *table;
	const char **resources;
	size_t nresources, nnamespaces;
	unsigned left, top, width, height;
};

/* The colors of a cell. */
struct quota_shade {
	const char *fill, *text, *words;
};

static const struct quota_shade shades[] = {
	{"#e6f0fa", "#1a2230", "up to 50 %"},
	{"#b4d3f0", "#1a2230", "up to 80 %"},
	{"#2a68ab", "#ffffff", "up to 100 %"},
	{"#f5bd4f", "#1a2230", "exceeded at the peak"},
	{"#b3182b", "#ffffff", "too many"},
	{"url(#unknown)", "#1a2230", "not known"},
	{"#ffffff", "#1a2230", "no quota"},
};
enum { SHADE_PEAK = 3, SHADE_OVER, SHADE_UNKNOWN, SHADE_UNLIMITED, NSHADES };

/* --- size of the map ------------------------------------------------------ */

static void measure(struct quota_map *map, const struct quota_table *table)
{
	size_t n = 0, longest = 9;

	*map = (struct quota_map){.table = table};
	map->top = TOP;
	map->resources = calloc(table->n + 1, sizeof(*map->resources));
	if (!map->resources)
		OUT_OF_MEMORY();
	for (size_t i = 0; i < table->n; i++) {
		const struct quota_row *row = &table->rows[i];
		size_t len = strlen(row->namespace);

		map->nnamespaces +=
			!i || strcmp(row->namespace, row[-1].namespace) != 0;
		map->resources[n++] = row->resource;
		if (len > longest)
			longest = len;
	}
	texts_sort(map->resources, n);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(map->resources[i], map->resources[i - 1]) != 0)
			map->resources[map->nresources++] = map->resources[i];
	if (longest > NAME_CHARS)
		longest = NAME_CHARS;
	map->left = (unsigned)longest * CHAR_WIDTH + 24;
	map->width =
		map->left + (unsigned)map->nresources * (CELL_WIDTH + GAP) + 16;
	if (map->width < LEAST_WIDTH)
		map->width = LEAST_WIDTH;
	map->height = map->top +
		      (unsigned)map->nnamespaces * (CELL_HEIGHT + GAP) + LEGEND;
}

/* True if a exceeds its quota by more than b, or has less left. */
static bool is_tighter(const struct quota_row *a, const struct quota_row *b)
{
	enum quota_fit x = quota_row_fit(a), y = quota_row_fit(b);

	return x != y ? x > y
		      : quantity_cmp(quota_row_excess(a, false),
				     quota_row_excess(b, false)) > 0;
}

/*
 * Returns the percentage of the quota that would be used; above 100 if the
 * quota is 0 and anything is used.
 */
static int64_t percent(const struct quota_row *row, struct quantity taken)
{
	if (row->hard.nano <= 0)
		return taken.nano > 0 ? 200 : 0;
	return (int64_t)(taken.nano * 100 / row->hard.nano);
}

static size_t shade_of(const struct quota_row *row)
{
	int64_t taken = percent(row, quota_row_after(row, false));

	switch (quota_row_fit(row)) {
	case QUOTA_UNKNOWN:
		return SHADE_UNKNOWN;
	case QUOTA_UNLIMITED:
		return SHADE_UNLIMITED;
	case QUOTA_FITS_NOT_AT_PEAK:
		return SHADE_PEAK;
	case QUOTA_EXCEEDED:
		return SHADE_OVER;
	case QUOTA_FITS:
		break;
	}
	if (row->unknown)
		return SHADE_UNKNOWN;
	return taken <= 50 ? 0 : taken <= 80 ? 1 : 2;
}

/* --- texts ---------------------------------------------------------------- */

static const char *namespace_name(const struct quota_row *row)
{
	return *row->namespace ? row->namespace : "(unknown)";
}

/* Adds at most n characters of the name. */
static void add_name(struct buf *out, const char *name, size_t n)
{
	size_t len = strlen(name);

	xml_add_n(out, name, len > n ? n - 1 : len);
	buf_adds(out, len > n ? "…" : "");
}

/* Adds a sum such as "12 used + 10". */
static void add_sum(struct buf *out, const struct quota_row *row)
{
	if (row->used_known) {
		quota_add_amount(out, row->used);
		buf_adds(out, row->adds.nano < 0 ? " used " : " used + ");
	}
	quota_add_amount(out, row->adds);
	if (!row->used_known)
		buf_adds(out, " in these manifests");
}

static void add_title(struct buf *out, const struct quota_row *row)
{
	struct buf verdict;

	buf_init(&verdict);
	quota_row_verdict(row, &verdict);
	buf_adds(out, "<title>");
	xml_add(out, namespace_name(row));
	buf_addc(out, ' ');
	xml_add(out, row->resource);
	if (row->quota) {
		buf_adds(out, ", quota ");
		xml_add(out, row->quota);
	}
	buf_adds(out, ": ");
	add_sum(out, row);
	if (row->quota) {
		buf_adds(out, " of ");
		quota_add_amount(out, row->hard);
	}
	buf_adds(out, ", ");
	xml_add(out, verdict.data);
	buf_adds(out, "</title>");
	buf_release(&verdict);
}

/* Adds the text alternative for screen readers. */
static void add_description(struct buf *out, const struct quota_map *map)
{
	const struct quota_table *t = map->table;
	size_t counts[QUOTA_EXCEEDED + 1] = {0};

	for (size_t i = 0; i < t->n; i++)
		counts[quota_row_fit(&t->rows[i])]++;
	buf_addf(out,
		 "%zu namespace%s and %zu resource%s. Exceeded: %zu. "
		 "Exceeded at the peak: %zu. Enough: %zu. Without a quota: "
		 "%zu. Not known: %zu.",
		 map->nnamespaces, map->nnamespaces == 1 ? "" : "s",
		 map->nresources, map->nresources == 1 ? "" : "s",
		 counts[QUOTA_EXCEEDED], counts[QUOTA_FITS_NOT_AT_PEAK],
		 counts[QUOTA_FITS], counts[QUOTA_UNLIMITED],
		 counts[QUOTA_UNKNOWN]);
}

/* --- cells ---------------------------------------------------------------- */

static unsigned share(struct quantity q, struct quantity most)
{
	if (q.nano <= 0 || most.nano <= 0)
		return 0;
	return (unsigned)(q.nano * BAR_WIDTH / most.nano);
}

static void add_part(struct buf *out, unsigned from, unsigned to,
		     const char *fill)
{
	if (to > from)
		buf_addf(out,
			 "<rect x=\"%u\" y=\"46\" width=\"%u\" height=\"8\" "
			 "fill=\"%s\"/>",
			 12 + from, to - from, fill);
}

/* Draws the used and added amounts, and the limit of the quota. */
static void add_bar(struct buf *out, const struct quota_row *row)
{
	struct quantity after = quota_row_after(row, false);
	struct quantity most =
		quantity_cmp(after, row->hard) > 0 ? after : row->hard;
	unsigned used, end = share(after, most), hard = share(row->hard, most);

	if (quantity_cmp(row->used, most) > 0)
		most = row->used;
	used = share(row->used, most);
	add_part(out, 0, BAR_WIDTH, "#ffffff");
	add_part(out, 0, used < end ? used : end, "#26364a");
	add_part(out, used, end, "#e07b00");
	add_part(out, hard > 2 ? hard - 2 : 0, hard, "#6b21a8");
}

static void add_words(struct buf *out, const struct quota_row *row)
{
	buf_addf(out, "<text x=\"12\" y=\"%d\" font-weight=\"600\">",
		 row->quota ? 20 : CELL_HEIGHT / 2 + 4);
	if (row->quota) {
		quota_add_amount(out, quota_row_after(row, false));
		buf_adds(out, " of ");
		quota_add_amount(out, row->hard);
	} else {
		quota_add_amount(out, row->adds);
		buf_adds(out,
			 quota_row_unknown(row) ? ", not known" : ", no quota");
	}
	buf_adds(out, "</text>");
	if (!row->quota)
		return;
	buf_adds(out, "<text x=\"12\" y=\"37\" font-size=\"11\">");
	add_sum(out, row);
	buf_adds(out, "</text>");
}

static void add_cell(struct buf *out, const struct quota_row *row, unsigned x,
		     unsigned y)
{
	const struct quota_shade *shade = &shades[shade_of(row)];

	buf_addf(out, "<g transform=\"translate(%u %u)\" fill=\"%s\">", x, y,
		 shade->text);
	add_title(out, row);
	buf_addf(out,
		 "<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" "
		 "stroke=\"#8793a3\"/>",
		 CELL_WIDTH, CELL_HEIGHT, shade->fill);
	add_words(out, row);
	if (row->quota)
		add_bar(out, row);
	buf_adds(out, "</g>\n");
}

/* Draws a cell without requests and without a limit. */
static void add_empty(struct buf *out, unsigned x, unsigned y)
{
	buf_addf(out,
		 "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" "
		 "rx=\"6\" fill=\"none\" stroke=\"#8793a3\" "
		 "stroke-opacity=\".35\" stroke-dasharray=\"2 4\"/>\n",
		 x, y, CELL_WIDTH, CELL_HEIGHT);
}

/* Returns the row with the least left among the n rows that have the resource
 * of the first one. */
static const struct quota_row *tightest(const struct quota_row *rows, size_t n)
{
	const struct quota_row *worst = rows;

	for (size_t i = 1; i < n; i++)
		if (!strcmp(rows[i].resource, rows->resource) &&
		    is_tighter(&rows[i], worst))
			worst = &rows[i];
	return worst;
}

/* Draws a line of cells for the namespace of the first row. Returns the number
 * of its rows, which come first among the n rows. */
static size_t add_namespace(struct buf *out, const struct quota_map *map,
			    const struct quota_row *rows, size_t n, unsigned y)
{
	size_t same = 1, i = 0;

	while (same < n && !strcmp(rows[same].namespace, rows->namespace))
		same++;
	buf_addf(out, "<text x=\"16\" y=\"%u\" font-weight=\"600\">",
		 y + CELL_HEIGHT / 2 + 4);
	add_name(out, namespace_name(rows), NAME_CHARS);
	buf_adds(out, "</text>\n");
	for (size_t k = 0; k < map->nresources; k++) {
		const char *resource = map->resources[k];
		unsigned x = map->left + (unsigned)k * (CELL_WIDTH + GAP);

		if (i == same || strcmp(rows[i].resource, resource) != 0) {
			add_empty(out, x, y);
			continue;
		}
		add_cell(out, tightest(&rows[i], same - i), x, y);
		while (i < same && !strcmp(rows[i].resource, resource))
			i++;
	}
	return same;
}

/* --- the complete map ----------------------------------------------------- */

static void add_head(struct buf *out, const struct quota_map *map)
{
	buf_addf(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		 "aria-labelledby=\"quota-title quota-text\" width=\"%u\" "
		 "height=\"%u\" viewBox=\"0 0 %u %u\" font-family=\"system-ui, "
		 "'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" "
		 "font-size=\"13\" fill=\"currentColor\">\n"
		 "<title id=\"quota-title\">GPU quota by namespace and "
		 "resource</title>\n<desc id=\"quota-text\">",
		 map->width, map->height, map->width, map->height);
	add_description(out, map);
	buf_adds(out, "</desc>\n");
	buf_adds(out, "<defs><pattern id=\"unknown\" width=\"8\" height=\"8\" "
		      "patternUnits=\"userSpaceOnUse\" "
		      "patternTransform=\"rotate(45)\"><rect width=\"8\" "
		      "height=\"8\" fill=\"#f2f4f7\"/><rect width=\"3\" "
		      "height=\"8\" fill=\"#cbd2db\"/></pattern></defs>\n");
}

static void add_resources(struct buf *out, const struct quota_map *map)
{
	for (size_t i = 0; i < map->nresources; i++) {
		buf_addf(out, "<text x=\"%u\" y=\"%u\"><title>",
			 map->left + (unsigned)i * (CELL_WIDTH + GAP),
			 map->top - 10);
		xml_add(out, map->resources[i]);
		buf_adds(out, "</title>");
		add_name(out, map->resources[i], RESOURCE_CHARS);
		buf_adds(out, "</text>\n");
	}
}

/* Draws a square of this color with its meaning. Returns the x position after
 * it. */
static unsigned add_key(struct buf *out, unsigned x, unsigned y,
			const struct quota_shade *shade)
{
	buf_addf(out,
		 "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"14\" rx=\"3\" "
		 "fill=\"%s\" stroke=\"#8793a3\"/><text x=\"%u\" y=\"%u\" "
		 "font-size=\"12\">%s</text>\n",
		 x, y, shade->fill, x + 20, y + 11, shade->words);
	return x + 44 + (unsigned)strlen(shade->words) * 13 / 2;
}

static void add_legend(struct buf *out, const struct quota_map *map)
{
	static const struct quota_shade parts[] = {
		{"#26364a", "", "used"},
		{"#e07b00", "", "these manifests"},
		{"#6b21a8", "", "the limit of the quota"},
	};
	unsigned y = map->height - LEGEND + 18, x = 16;

	for (size_t i = 0; i < NSHADES; i++)
		x = add_key(out, x, y, &shades[i]);
	x = 16;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		x = add_key(out, x, y + 26, &parts[i]);
}

void quota_svg(const struct quota_table *table, struct buf *out)
{
	struct quota_map map;
	unsigned y;

	measure(&map, table);
	y = map.top;
	add_head(out, &map);
	add_resources(out, &map);
	for (size_t i = 0; i < table->n; y += CELL_HEIGHT + GAP)
		i += add_namespace(out, &map, &table->rows[i], table->n - i, y);
	if (!table->n)
		buf_addf(out,
			 "<text x=\"16\" y=\"%u\">no workload requests an "
			 "accelerator</text>\n",
			 map.top - 10);
	add_legend(out, &map);
	buf_adds(out, "</svg>\n");
	free(map.resources);
}
