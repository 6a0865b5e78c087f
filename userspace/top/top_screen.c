/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interactive view: ncurses sends only what differs from the last screen. */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "top/top.h"

#define KEY_ESCAPE 27
#define PAGE	   10

static volatile sig_atomic_t ended;

static void screen_on_signal(int signal)
{
	(void)signal;
	ended = 1;
}

static chtype screen_attributes[DAVY_STYLE_COUNT];

static void screen_styles(void)
{
	bool colour = !getenv("NO_COLOR") && has_colors();

	if (colour) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_GREEN, -1);
		init_pair(2, COLOR_YELLOW, -1);
		init_pair(3, COLOR_RED, -1);
		init_pair(4, COLOR_MAGENTA, -1);
	}
	screen_attributes[DAVY_STYLE_TITLE] = A_BOLD;
	screen_attributes[DAVY_STYLE_DIM] = colour ? A_DIM : A_NORMAL;
	screen_attributes[DAVY_STYLE_GOOD] = colour ? (chtype)COLOR_PAIR(1) : A_NORMAL;
	screen_attributes[DAVY_STYLE_WARNING] = colour ? (chtype)COLOR_PAIR(2) : A_BOLD;
	screen_attributes[DAVY_STYLE_BAD] = colour ? (chtype)COLOR_PAIR(3) | A_BOLD : A_REVERSE;
	screen_attributes[DAVY_STYLE_FORECAST] = colour ? (chtype)COLOR_PAIR(4) | A_BOLD : A_BOLD;
	screen_attributes[DAVY_STYLE_CHOSEN] = A_REVERSE;
}

static void screen_show(const struct davy_canvas *c)
{
	for (int row = 0; row < c->rows; row++) {
		for (int col = 0; col < c->cols; col++) {
			const struct davy_cell *cell = &c->cell[row * c->cols + col];
			chtype attributes = screen_attributes[cell->style];
			wchar_t text[2] = { cell->character, 0 };
			cchar_t out;

			if (!cell->character)
				continue;
			setcchar(&out, text, attributes & ~(chtype)A_COLOR,
				 (short)PAIR_NUMBER(attributes), NULL);
			mvadd_wch(row, col, &out);
		}
	}
	refresh();
}

static void screen_move(struct davy_top *top, int by)
{
	size_t rows = davy_top_rows(top, top->panel), *at = &top->chosen[top->panel];

	if (top->details)
		at = &top->scrolled;
	if (by < 0)
		*at = *at < (size_t)-by ? 0 : *at - (size_t)-by;
	else if (top->details)
		*at += (size_t)by; /* the drawing limits it */
	else
		*at = *at + (size_t)by < rows ? *at + (size_t)by : rows ? rows - 1 : 0;
}

static void screen_type(struct davy_top *top, int key)
{
	size_t length = strlen(top->filter);

	if (key == KEY_ESCAPE)
		top->filter[0] = 0;
	if (key == KEY_ESCAPE || key == '\n' || key == '\r' || key == KEY_ENTER) {
		top->typing = false;
	} else if (key == KEY_BACKSPACE || key == 127 || key == 8) {
		if (length)
			top->filter[length - 1] = 0;
	} else if (key >= ' ' && key < 127 && length + 1 < sizeof(top->filter)) {
		top->filter[length] = (char)key;
		top->filter[length + 1] = 0;
	}
	memset(top->chosen, 0, sizeof(top->chosen));
	davy_top_sort_work(top);
}

static void screen_toggle(struct davy_top *top, int key)
{
	if (key == ' ')
		top->frozen = !top->frozen;
	else if (key == 'S')
		top->sensors = !top->sensors;
	else if (key == 'l')
		top->level = (top->level + 1) % 4;
	else if (key == 's')
		top->sort = (top->sort + 1) % DAVY_TOP_SORTS;
	else if (key == '\t')
		top->panel = (top->panel + 1) % DAVY_TOP_PANELS;
	else if (key == KEY_BTAB)
		top->panel = (top->panel + DAVY_TOP_PANELS - 1) % DAVY_TOP_PANELS;
	davy_top_sort_work(top);
}

/* False: quit. */
static bool screen_key(struct davy_top *top, int key)
{
	if (top->typing) {
		screen_type(top, key);
		return true;
	}
	if (top->help) {
		top->help = false;
		return key != 'q';
	}
	if (davy_top_act_key(top, key))
		return true;
	switch (key) {
	case 'q':
		return false;
	case '?':
	case 'h':
		top->help = true;
		break;
	case '/':
		top->typing = !top->details;
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		top->details = !top->details && davy_top_chosen(top);
		top->scrolled = 0;
		break;
	case KEY_ESCAPE:
		top->details = false;
		break;
	case KEY_UP:
	case 'k':
		screen_move(top, -1);
		break;
	case KEY_DOWN:
	case 'j':
		screen_move(top, 1);
		break;
	case KEY_PPAGE:
		screen_move(top, -PAGE);
		break;
	case KEY_NPAGE:
		screen_move(top, PAGE);
		break;
	default:
		screen_toggle(top, key);
	}
	return true;
}

static void screen_redraw(struct davy_top *top, struct davy_canvas *c)
{
	int rows, cols;

	getmaxyx(stdscr, rows, cols);
	if (rows != c->rows || cols != c->cols) {
		if (davy_canvas_resize(c, rows, cols))
			return;
		erase();
	}
	davy_draw(top, c);
	screen_show(c);
}

static bool screen_begin(void)
{
	struct sigaction action = { .sa_handler = screen_on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	set_escdelay(50);
	if (!newterm(NULL, stdout, stdin))
		return false;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	screen_styles();
	return true;
}

/* Waits for a key until "due_ms"; false: quit. */
static bool screen_wait(struct davy_top *top, uint64_t due_ms)
{
	uint64_t now_ms = davy_now_ms();
	int key;

	timeout(due_ms > now_ms ? (int)(due_ms - now_ms) : 0);
	key = getch();
	return key == ERR || key == KEY_RESIZE || screen_key(top, key);
}

int davy_top_screen(struct davy_top *top, unsigned int interval_ms)
{
	struct davy_canvas c = { .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8") };
	uint64_t due_ms = davy_now_ms() + interval_ms;
	bool more = true;

	if (!screen_begin()) {
		davy_log("the terminal '%s' is unknown; set TERM, or use --once",
			 getenv("TERM") ? getenv("TERM") : "");
		return DAVY_EXIT_FAILED;
	}
	while (more && !ended) {
		screen_redraw(top, &c);
		more = screen_wait(top, due_ms);
		if (davy_now_ms() < due_ms)
			continue;
		davy_top_act_read(top);
		if (!top->frozen)
			davy_top_take(top);
		due_ms = davy_now_ms() + interval_ms;
	}
	endwin();
	davy_canvas_done(&c);
	return DAVY_EXIT_DONE;
}
