/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of davylamp-top: the agent's answers, what follows from several of them (speeds,
 * incidents), and what the user has chosen. Views draw it into a canvas. Only top/ includes this.
 */
#ifndef DAVY_TOP_H
#define DAVY_TOP_H

#include <stdint.h>

#include "report/incidents.h"
#include "top/canvas.h"
#include "top/feed_in.h"

#define DAVY_TOP_ANSWERS 12  /* latest answers: evictions per second are over 10 of them */
#define DAVY_TOP_LINES	 500 /* latest lines of the feed */
#define DAVY_TOP_SPARK	 60  /* columns of a sparkline, five answers each */
#define DAVY_TOP_DEVICES 16
#define DAVY_TOP_WORK	 256

enum davy_top_panel {
	DAVY_TOP_WORKLOADS = 0,
	DAVY_TOP_INCIDENTS,
	DAVY_TOP_FEED,
	DAVY_TOP_GPUS,
	DAVY_TOP_PANELS,
};

enum davy_top_sort {
	DAVY_TOP_BY_LEVEL = 0,
	DAVY_TOP_BY_MEMORY,
	DAVY_TOP_BY_SPEED,
	DAVY_TOP_BY_PID,
	DAVY_TOP_SORTS,
};

struct davy_top_work { /* an engine's process */
	const json_t *process;
	json_int_t pid, workload;
	json_int_t memory; /* bytes on all GPUs */
	int level;	   /* of the alarms about it, 0: none */
	double speed;	   /* per second */
	const char *unit;  /* "t/s", "g/s"; "": not measured */
};

struct davy_top_spark {
	char device[64];
	short vram[DAVY_TOP_SPARK]; /* permille, newest last; -1: none */
};

struct davy_top_act { /* an order to the agent */
	bool allowed, waiting;
	int asked; /* the order whose question is shown, from 1 */
	int fd;	   /* while it waits */
	json_int_t workload;
	uint64_t until_ms; /* when waiting ends */
	uint64_t said_ms; /* when "text" was set */
	const char *rung;
	char text[200]; /* question, progress or answer; "": none */
};

struct davy_top {
	struct davy_feed_in in;
	json_t *answer[DAVY_TOP_ANSWERS]; /* newest first; NULL: none */
	unsigned long answer_count;
	json_t *lines;
	struct davy_incidents incidents;
	struct davy_top_spark spark[DAVY_TOP_DEVICES];
	size_t spark_count;
	char trouble[160];    /* why there is no newer answer; "": none */
	json_int_t trouble_s; /* wall clock of its begin */
	struct davy_top_work work[DAVY_TOP_WORK];
	size_t work_count;

	bool frozen, details, sensors, help, typing;
	enum davy_top_panel panel;
	size_t chosen[DAVY_TOP_PANELS];
	size_t scrolled; /* of the details */
	enum davy_top_sort sort;
	int level; /* lowest level of the feed */
	char filter[64];
	struct davy_top_act act;
};

/* top_state.c. Asks once; an error is stored as trouble. Returns it. */
int davy_top_take(struct davy_top *top);
void davy_top_done(struct davy_top *top);

/* Difference of a counter between two objects of the latest answers, per second; -1: unknown. */
double davy_top_rate(const struct davy_top *top, const char *list, const char *name,
		     const json_t *object, const char *counter, unsigned int answers);

/* "HH:MM:SS" of an event's time. */
void davy_top_clock(const struct davy_top *top, json_int_t at_ns, char *buf, size_t size);

/* Wall clock in seconds of an event's time. */
json_int_t davy_top_wall(const json_t *status, json_int_t at_ns);

/* "850 ms", "12.3 s", "5 min" */
void davy_top_duration(json_int_t ns, char *buf, size_t size);

/* Share of a whole, 0 to 1000. */
int davy_top_permille(json_int_t part, json_int_t whole);

/* Sorts and filters the engines of the newest answer into "work". */
void davy_top_sort_work(struct davy_top *top);
const char *davy_top_sort_name(enum davy_top_sort sort);

/* True without a filter, or if the object contains its text, whatever the case. */
bool davy_top_passes(const struct davy_top *top, const json_t *object);

/* Severity of a line of the feed: 0 to 3. */
int davy_top_line_level(const json_t *line);
/* Whether the feed shows the line. */
bool davy_top_line_shown(const struct davy_top *top, const json_t *line);
/* The line's text without its time. */
const char *davy_top_line_text(const json_t *line);

enum davy_style davy_top_level_style(int level);

/* The object of the selected row; NULL: none. */
json_t *davy_top_chosen(const struct davy_top *top);
size_t davy_top_rows(const struct davy_top *top, enum davy_top_panel panel);

/* draw_*.c: each draws from "row" on and returns the row after its last one. */
int davy_draw_head(const struct davy_top *top, struct davy_canvas *c, int row);
int davy_draw_gpus_rows(const struct davy_canvas *c); /* of one GPU */
int davy_draw_gpus(const struct davy_top *top, struct davy_canvas *c, int row, int rows);
int davy_draw_work(const struct davy_top *top, struct davy_canvas *c, int row, int rows);
int davy_draw_incidents(const struct davy_top *top, struct davy_canvas *c, int row, int rows);
int davy_draw_feed(const struct davy_top *top, struct davy_canvas *c, int row, int rows);

/* draw.c: the whole screen. */
void davy_draw(struct davy_top *top, struct davy_canvas *c);

/* top_act.c: true: the key was for an order, or answered its question. */
bool davy_top_act_key(struct davy_top *top, int key);
void davy_top_act_read(struct davy_top *top);

/* top_screen.c: the interactive view. Returns an exit status. */
int davy_top_screen(struct davy_top *top, unsigned int interval_ms);

/* top_stream.c: lines on a pipe. Returns an exit status. */
int davy_top_stream(struct davy_top *top, unsigned int interval_ms, bool json);

#endif
