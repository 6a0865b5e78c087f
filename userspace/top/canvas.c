/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

static int canvas_clamp(int value, int max)
{
	return value < 1 ? 1 : value > max ? max : value;
}

int davy_canvas_resize(struct davy_canvas *c, int rows, int cols)
{
	struct davy_cell *cell;

	rows = canvas_clamp(rows, DAVY_CANVAS_ROWS_MAX);
	cols = canvas_clamp(cols, DAVY_CANVAS_COLS_MAX);
	cell = calloc((size_t)rows * (size_t)cols, sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	free(c->cell);
	c->cell = cell;
	c->rows = rows;
	c->cols = cols;
	davy_canvas_clear(c);
	return 0;
}

void davy_canvas_done(struct davy_canvas *c)
{
	free(c->cell);
	memset(c, 0, sizeof(*c));
}

void davy_canvas_clear(struct davy_canvas *c)
{
	for (int i = 0; i < c->rows * c->cols; i++)
		c->cell[i] = (struct davy_cell){ .character = L' ' };
}

static struct davy_cell *canvas_at(struct davy_canvas *c, int row, int col)
{
	return &c->cell[row * c->cols + col];
}

/* Writes one character; returns its width, 0 if it does not fit before "end". */
static int canvas_put_one(struct davy_canvas *c, int row, int col, int end, enum davy_style style,
			  wchar_t character)
{
	int width = iswprint((wint_t)character) ? wcwidth(character) : -1;

	if (width < 1) { /* control, combining, direction: one visible character instead */
		character = L'?';
		width = 1;
	}
	if (row < 0 || row >= c->rows || col < 0 || col + width > end)
		return 0;
	*canvas_at(c, row, col) = (struct davy_cell){ character, (unsigned char)style };
	if (width == 2)
		*canvas_at(c, row, col + 1) = (struct davy_cell){ 0, (unsigned char)style };
	return width;
}

/* Returns the column after the text; *ret_cut: not all of it did fit. */
static int canvas_put_until(struct davy_canvas *c, int row, int col, int end, enum davy_style style,
			    const char *text, bool *ret_cut)
{
	size_t left = strlen(text);
	mbstate_t state = { 0 };

	*ret_cut = false;
	if (end > c->cols)
		end = c->cols;
	while (left) {
		wchar_t character = L'?';
		size_t n = mbrtowc(&character, text, left, &state);
		int width;

		if (n == (size_t)-1 || n == (size_t)-2 || !n) {
			memset(&state, 0, sizeof(state));
			character = L'?';
			n = 1;
		}
		width = canvas_put_one(c, row, col, end, style, character);
		if (!width) {
			*ret_cut = true;
			return col;
		}
		col += width;
		text += n;
		left -= n;
	}
	return col;
}

int davy_canvas_put(struct davy_canvas *c, int row, int col, enum davy_style style,
		    const char *text)
{
	bool cut;

	return canvas_put_until(c, row, col, c->cols, style, text, &cut);
}

int davy_canvas_format(struct davy_canvas *c, int row, int col, enum davy_style style,
		       const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return davy_canvas_put(c, row, col, style, text);
}

int davy_canvas_field(struct davy_canvas *c, int row, int col, int width, enum davy_style style,
		      const char *text)
{
	int end = col + width < c->cols ? col + width : c->cols;
	bool cut;

	canvas_put_until(c, row, col, end, style, text, &cut);
	if (cut && end > col && row >= 0 && row < c->rows)
		*canvas_at(c, row, end - 1) = (struct davy_cell){ L'~', (unsigned char)style };
	return col + width;
}

int davy_canvas_bar(struct davy_canvas *c, int row, int col, int width, enum davy_style style,
		    int permille)
{
	int inner = width - 2, full;

	if (inner < 1)
		return col;
	permille = permille < 0 ? 0 : permille > 1000 ? 1000 : permille;
	full = (inner * permille + 500) / 1000;
	if (permille && !full)
		full = 1;
	col = davy_canvas_put(c, row, col, DAVY_STYLE_DIM, "[");
	for (int i = 0; i < inner; i++)
		col = davy_canvas_put(c, row, col, i < full ? style : DAVY_STYLE_DIM,
				      i < full ? "#" : ".");
	return davy_canvas_put(c, row, col, DAVY_STYLE_DIM, "]");
}

int davy_canvas_spark(struct davy_canvas *c, int row, int col, enum davy_style style,
		      const short *permille, int count)
{
	static const wchar_t blocks[] = L"▁▂▃▄▅▆▇█", letters[] = L"_.-=+*%#";

	for (int i = 0; i < count; i++) {
		int level = permille[i] * 8 / 1001;
		wchar_t one = c->unicode ? blocks[level & 7] : letters[level & 7];

		if (permille[i] < 0)
			one = L' ';
		col += canvas_put_one(c, row, col, c->cols, style, one);
	}
	return col;
}

void davy_canvas_mark(struct davy_canvas *c, int row, enum davy_style style)
{
	for (int i = 0; row >= 0 && row < c->rows && i < c->cols; i++)
		canvas_at(c, row, i)->style = (unsigned char)style;
}

static void canvas_print_row(const struct davy_canvas *c, int row, FILE *out)
{
	const struct davy_cell *cell = &c->cell[(size_t)row * (size_t)c->cols];
	int end = c->cols;

	while (end && cell[end - 1].character == L' ')
		end--;
	for (int i = 0; i < end; i++)
		if (cell[i].character)
			fprintf(out, "%lc", (wint_t)cell[i].character);
	fputc('\n', out);
}

void davy_canvas_print(const struct davy_canvas *c, FILE *out)
{
	for (int row = 0; row < c->rows; row++)
		canvas_print_row(c, row, out);
}
