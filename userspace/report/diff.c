/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/diff.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AROUND	  3	  /* lines of context */
#define CELLS_MAX 4000000 /* of a table of 2 bytes each; so the lesser side has 2000 lines */

struct line {
	const char *text;
	size_t length; /* with its newline */
};

struct lines {
	struct line *line;
	size_t count;
};

/* What is done, in order: ' ' both have the line, '-' only the first, '+' only the second. */
struct edit {
	char kind;
	struct line line;
};

struct edits {
	struct edit *edit;
	size_t count;
};

static int split(const char *text, struct lines *ret)
{
	size_t count = 0;

	for (const char *at = text; *at; at++)
		count += *at == '\n';
	ret->count = 0;
	ret->line = calloc(count + 2, sizeof(*ret->line));
	if (!ret->line)
		return -ENOMEM;
	while (*text) {
		const char *end = strchr(text, '\n');
		size_t length = end ? (size_t)(end - text) + 1 : strlen(text);

		ret->line[ret->count++] = (struct line){ text, length };
		text += length;
	}
	return 0;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static void put(struct edits *e, char kind, const struct line *line)
{
	e->edit[e->count++] = (struct edit){ kind, *line };
}

/* table[i][j]: how many lines the rest of a from i on and of b from j on have in common. */
static uint16_t *common_table(const struct lines *a, const struct lines *b)
{
	size_t width = b->count + 1;
	uint16_t *table;

	if ((a->count + 1) * width > CELLS_MAX)
		return NULL;
	table = calloc((a->count + 1) * width, sizeof(*table));
	for (size_t i = a->count; table && i-- > 0;) {
		for (size_t j = b->count; j-- > 0;) {
			uint16_t down = table[(i + 1) * width + j],
				 right = table[i * width + j + 1];

			if (same(&a->line[i], &b->line[j]))
				down = (uint16_t)(table[(i + 1) * width + j + 1] + 1);
			table[i * width + j] = down > right ? down : right;
		}
	}
	return table;
}

/* Without a table all of a goes and all of b comes: right, only longer. */
static void compare_middle(const struct lines *a, const struct lines *b, struct edits *e)
{
	uint16_t *table = common_table(a, b);
	size_t i = 0, j = 0, width = b->count + 1;

	while (i < a->count || j < b->count) {
		bool more = i < a->count && j < b->count;

		if (more && table && same(&a->line[i], &b->line[j])) {
			put(e, ' ', &a->line[i++]);
			j++;
		} else if (i < a->count &&
			   (j == b->count || !table ||
			    table[(i + 1) * width + j] >= table[i * width + j + 1])) {
			put(e, '-', &a->line[i++]);
		} else {
			put(e, '+', &b->line[j++]);
		}
	}
	free(table);
}

static void compare(const struct lines *a, const struct lines *b, struct edits *e)
{
	size_t least = a->count < b->count ? a->count : b->count, head = 0, tail = 0;
	struct lines a_middle, b_middle;

	while (head < least && same(&a->line[head], &b->line[head]))
		put(e, ' ', &a->line[head++]);
	while (tail < least - head &&
	       same(&a->line[a->count - 1 - tail], &b->line[b->count - 1 - tail]))
		tail++;
	a_middle = (struct lines){ a->line + head, a->count - head - tail };
	b_middle = (struct lines){ b->line + head, b->count - head - tail };
	compare_middle(&a_middle, &b_middle, e);
	for (size_t i = a->count - tail; i < a->count; i++)
		put(e, ' ', &a->line[i]);
}

static void print_line(FILE *out, const struct edit *e)
{
	fprintf(out, "%c%.*s", e->kind, (int)e->line.length, e->line.text);
	if (e->line.text[e->line.length - 1] != '\n')
		fputs("\n\\ No newline at end of file\n", out);
}

/* "before": lines of that side above the hunk. */
static void print_range(FILE *out, char sign, size_t before, size_t count)
{
	fprintf(out, "%c%zu", sign, count ? before + 1 : before);
	if (count != 1)
		fprintf(out, ",%zu", count);
}

static void print_hunk(FILE *out, const struct edits *e, size_t begin, size_t end)
{
	size_t before[2] = { 0, 0 }, count[2] = { 0, 0 };

	for (size_t i = 0; i < end; i++) {
		size_t *sum = i < begin ? before : count;

		sum[0] += e->edit[i].kind != '+';
		sum[1] += e->edit[i].kind != '-';
	}
	fputs("@@ ", out);
	print_range(out, '-', before[0], count[0]);
	fputc(' ', out);
	print_range(out, '+', before[1], count[1]);
	fputs(" @@\n", out);
	for (size_t i = begin; i < end; i++)
		print_line(out, &e->edit[i]);
}

static size_t next_change(const struct edits *e, size_t from)
{
	while (from < e->count && e->edit[from].kind == ' ')
		from++;
	return from;
}

/* Changes with no more than twice the context between them are one hunk. */
static bool print_hunks(FILE *out, const struct edits *e, const char *from, const char *to)
{
	size_t at = next_change(e, 0), last, next;

	if (at == e->count)
		return false;
	fprintf(out, "--- %s\n+++ %s\n", from, to);
	while (at < e->count) {
		last = at;
		while ((next = next_change(e, last + 1)) < e->count &&
		       next - last - 1 <= (size_t)2 * AROUND)
			last = next;
		print_hunk(out, e, at > AROUND ? at - AROUND : 0,
			   last + 1 + AROUND < e->count ? last + 1 + AROUND : e->count);
		at = next;
	}
	return true;
}

int davy_diff(FILE *out, const struct davy_diff_side *from, const struct davy_diff_side *to)
{
	struct lines a = { NULL, 0 }, b = { NULL, 0 };
	struct edits e = { NULL, 0 };
	int err = split(from->text, &a);

	if (!err)
		err = split(to->text, &b);
	if (!err)
		e.edit = calloc(a.count + b.count + 1, sizeof(*e.edit));
	if (!err && !e.edit)
		err = -ENOMEM;
	if (!err) {
		compare(&a, &b, &e);
		err = print_hunks(out, &e, from->name, to->name);
	}
	free(a.line);
	free(b.line);
	free(e.edit);
	return err;
}
