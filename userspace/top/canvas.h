/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rectangle of characters with styles. Views draw into it; it is shown by ncurses, which sends
 * only differences, or printed as text. Untrusted text is safe here: a cell takes one printable
 * character, everything else becomes '?'. Only top/ includes this.
 */
#ifndef DAVY_CANVAS_H
#define DAVY_CANVAS_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

#define DAVY_CANVAS_ROWS_MAX 500
#define DAVY_CANVAS_COLS_MAX 1000

enum davy_style {
	DAVY_STYLE_PLAIN = 0,
	DAVY_STYLE_TITLE,    /* bold */
	DAVY_STYLE_DIM,	     /* labels, empty parts of bars */
	DAVY_STYLE_GOOD,     /* green */
	DAVY_STYLE_WARNING,  /* yellow */
	DAVY_STYLE_BAD,	     /* red, bold */
	DAVY_STYLE_FORECAST, /* magenta, bold */
	DAVY_STYLE_CHOSEN,   /* reverse: the selected row */
	DAVY_STYLE_COUNT,
};

struct davy_cell {
	wchar_t character; /* 0: right half of a wide one */
	unsigned char style;
};

struct davy_canvas {
	int rows, cols;
	bool unicode;		/* bars and sparklines may use block characters */
	struct davy_cell *cell; /* rows * cols */
};

/* Sizes outside the limits are clamped. -ENOMEM leaves the old size. */
int davy_canvas_resize(struct davy_canvas *c, int rows, int cols);
void davy_canvas_done(struct davy_canvas *c);
void davy_canvas_clear(struct davy_canvas *c);

/* Writes from "col" on and returns the column after it. What does not fit is cut. */
int davy_canvas_put(struct davy_canvas *c, int row, int col, enum davy_style style,
		    const char *text);
int davy_canvas_format(struct davy_canvas *c, int row, int col, enum davy_style style,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Writes at most "width" columns: a longer text ends with '~'. Returns col + width. */
int davy_canvas_field(struct davy_canvas *c, int row, int col, int width, enum davy_style style,
		      const char *text);

/* "[####......]" of "width" columns, brackets included. */
int davy_canvas_bar(struct davy_canvas *c, int row, int col, int width, enum davy_style style,
		    int permille);

/* One column for each value of 0 to 1000; negative values: no sample. */
int davy_canvas_spark(struct davy_canvas *c, int row, int col, enum davy_style style,
		      const short *permille, int count);

/* Sets the style of a whole row. */
void davy_canvas_mark(struct davy_canvas *c, int row, enum davy_style style);

/* As text, without trailing spaces and styles. */
void davy_canvas_print(const struct davy_canvas *c, FILE *out);

#endif
