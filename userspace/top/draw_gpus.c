/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices: memory with its forecast, the busiest ring, evictions, resets, the last minutes. */
#include "top/top.h"

#include <stdio.h>
#include <string.h>

#include "lib/message.h"

#define NARROW_COLS   100
#define RATE_ANSWERS  10
#define FULL_PERMILLE 900

static enum davy_style gpus_style(int permille, bool forecast)
{
	if (permille >= 970)
		return DAVY_STYLE_BAD;
	return forecast || permille >= FULL_PERMILLE ? DAVY_STYLE_WARNING : DAVY_STYLE_GOOD;
}

struct heap {
	const char *name;
	char text[96]; /* "123/456 MiB 27 %"; "": the device has none */
	char full[48]; /* " full in 42.0 s" */
	int permille;
};

static struct heap gpus_heap(const json_t *gpu, const char *name, const char *full_key,
			     json_int_t used, json_int_t total)
{
	json_int_t full_ms = davy_message_number(gpu, full_key, -1);
	struct heap h = { .name = name, .permille = davy_top_permille(used, total) };
	char when[32];

	if (total <= 0)
		return h;
	snprintf(h.text, sizeof(h.text), "%lld/%lld MiB %d %%", (long long)used >> 20,
		 (long long)total >> 20, h.permille / 10);
	if (full_ms >= 0) {
		davy_top_duration(full_ms * 1000000, when, sizeof(when));
		snprintf(h.full, sizeof(h.full), " full in %s", when);
	}
	return h;
}

struct heaps {
	struct heap vram, gtt, host;
};

static struct heaps gpus_heaps(const json_t *gpu)
{
	json_int_t host = davy_message_number(gpu, "host_total", 0);
	bool shared = json_is_true(json_object_get(gpu, "shared_memory"));
	struct heaps h = {
		.host = gpus_heap(gpu, "host", shared ? "host_full_in_ms" : "",
				  host - davy_message_number(gpu, "host_available", 0), host),
	};

	if (*davy_message_text(gpu, "unreadable"))
		return h;
	h.vram = gpus_heap(gpu, "VRAM", "vram_full_in_ms", davy_message_number(gpu, "vram_used", 0),
			   davy_message_number(gpu, "vram_total", 0));
	h.gtt = gpus_heap(gpu, "GTT", "gtt_full_in_ms", davy_message_number(gpu, "gtt_used", 0),
			  davy_message_number(gpu, "gtt_total", 0));
	return h;
}

/* Its columns without a bar, with those that separate it from the next one. */
static int gpus_heap_columns(const struct heap *h)
{
	return h->text[0] ? (int)(strlen(h->name) + strlen(h->text) + strlen(h->full)) + 3 : 0;
}

/* "VRAM [####....] 123/456 MiB 27 % full in 42.0 s"; "width" is the bar's, below 3: none. */
static int gpus_memory(struct davy_canvas *c, int row, int col, int width, const struct heap *h)
{
	if (!h->text[0])
		return col;
	col = davy_canvas_format(c, row, col, DAVY_STYLE_DIM, "%s ", h->name);
	if (width >= 3)
		col = 1 + davy_canvas_bar(c, row, col, width, gpus_style(h->permille, h->full[0]),
					  h->permille);
	col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "%s", h->text);
	return 2 + davy_canvas_format(c, row, col, DAVY_STYLE_FORECAST, "%s", h->full);
}

/* The ring whose job has used most of its timeout; NULL: no job is old enough to be reported. */
static const json_t *gpus_busiest(const json_t *gpu)
{
	const json_t *ring, *busiest = NULL;
	int most = -1;
	size_t i;

	json_array_foreach(json_object_get(gpu, "rings"), i, ring)
	{
		int permille = davy_top_permille(davy_message_number(ring, "age_ns", 0),
						 davy_message_number(ring, "timeout_ns", 0));

		if (davy_message_number(ring, "age_ns", 0) && permille > most) {
			most = permille;
			busiest = ring;
		}
	}
	return busiest;
}

/* Without a running job: the shortest timeout. */
static void gpus_idle_ring(struct davy_canvas *c, int row, int col, const json_t *gpu)
{
	const json_t *l, *shortest = NULL;
	json_int_t least = 0;
	size_t i;

	json_array_foreach(json_object_get(gpu, "lockup"), i, l)
	{
		json_int_t ms = davy_message_number(l, "timeout_ms", 0);

		if (ms && (!least || ms < least)) {
			least = ms;
			shortest = l;
		}
	}
	if (shortest)
		davy_canvas_format(c, row, col, DAVY_STYLE_DIM,
				   "no long job; shortest timeout %lld ms (%s)", (long long)least,
				   davy_message_text(shortest, "queue"));
}

/* The process with most of the VRAM: often no engine. Returns the column after it. */
static int gpus_holder(struct davy_canvas *c, int row, int col, const json_t *gpu)
{
	const json_t *client, *most = NULL;
	char text[128];
	size_t i;

	json_array_foreach(json_object_get(gpu, "clients"), i, client)
	{
		if (davy_message_number(client, "vram", 0) >
		    (most ? davy_message_number(most, "vram", 0) : 0))
			most = client;
	}
	if (!most)
		return col;
	snprintf(text, sizeof(text), "most VRAM: %s[%lld] %lld MiB",
		 davy_message_text(most, "comm"), (long long)davy_message_number(most, "pid", 0),
		 (long long)davy_message_number(most, "vram", 0) >> 20);
	if (col + (int)strlen(text) > c->cols)
		return col;
	return 2 + davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "%s", text);
}

static void gpus_ring(struct davy_canvas *c, int row, int col, int width, const json_t *gpu)
{
	const json_t *ring = gpus_busiest(gpu);
	json_int_t age_ns, timeout_ns;
	int permille;

	if (!ring) { /* the less interesting text is the one that is cut */
		gpus_idle_ring(c, row, gpus_holder(c, row, col, gpu), gpu);
		return;
	}
	age_ns = davy_message_number(ring, "age_ns", 0);
	timeout_ns = davy_message_number(ring, "timeout_ns", 0);
	permille = davy_top_permille(age_ns, timeout_ns);
	col = davy_canvas_format(c, row, col, DAVY_STYLE_DIM, "job ");
	col = davy_canvas_bar(c, row, col, width,
			      permille >= 750	? DAVY_STYLE_BAD
			      : permille >= 250 ? DAVY_STYLE_WARNING
						: DAVY_STYLE_GOOD,
			      permille);
	if (timeout_ns)
		col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " %lld/%lld ms",
					 (long long)age_ns / 1000000,
					 (long long)timeout_ns / 1000000);
	else
		col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " %lld ms, no timeout",
					 (long long)age_ns / 1000000);
	col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, " %s pid %lld",
				 davy_message_text(ring, "ring"),
				 (long long)davy_message_number(ring, "pid", 0));
	gpus_holder(c, row, col + 2, gpu);
}

static int gpus_first_row(const struct davy_top *top, struct davy_canvas *c, int row,
			  const json_t *gpu)
{
	double rate = davy_top_rate(top, "gpus", "device", gpu, "evictions", RATE_ANSWERS);
	json_int_t resets = davy_message_number(gpu, "resets", 0);
	const char *device = davy_message_text(gpu, "device");
	char clock[16];
	int col = davy_canvas_format(c, row, 0, DAVY_STYLE_TITLE, "%s ", device);

	col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "%s  evictions %lld",
				 davy_message_text(gpu, "driver"),
				 (long long)davy_message_number(gpu, "evictions", 0));
	if (rate >= 0)
		col = davy_canvas_format(c, row, col,
					 rate > 0 ? DAVY_STYLE_WARNING : DAVY_STYLE_PLAIN,
					 " (%.1f/s)", rate);
	col = davy_canvas_format(c, row, col, resets ? DAVY_STYLE_BAD : DAVY_STYLE_PLAIN,
				 "  resets %lld", (long long)resets);
	if (resets) {
		davy_top_clock(top, davy_message_number(gpu, "reset_ns", 0), clock, sizeof(clock));
		col = davy_canvas_format(c, row, col, DAVY_STYLE_BAD, " (%s)", clock);
	}
	if (json_object_get(gpu, "temperature_c"))
		col = davy_canvas_format(c, row, col, DAVY_STYLE_PLAIN, "  %lld C",
					 (long long)davy_message_number(gpu, "temperature_c", 0));
	return col + 2;
}

static void gpus_spark(const struct davy_top *top, struct davy_canvas *c, int row, int col,
		       const char *device)
{
	int room = c->cols - col;

	if (room < 8)
		return;
	if (room > DAVY_TOP_SPARK)
		room = DAVY_TOP_SPARK;
	for (size_t i = 0; i < top->spark_count; i++)
		if (!strcmp(top->spark[i].device, device))
			davy_canvas_spark(c, row, c->cols - room, DAVY_STYLE_GOOD,
					  top->spark[i].vram + DAVY_TOP_SPARK - room, room);
}

static bool gpus_narrow(const struct davy_canvas *c)
{
	return c->cols < NARROW_COLS;
}

/* VRAM, GTT, host and job on two rows, on a narrow screen on three. */
static int gpus_one(const struct davy_top *top, struct davy_canvas *c, int row, const json_t *gpu)
{
	const char *device = davy_message_text(gpu, "device");
	const char *unreadable = davy_message_text(gpu, "unreadable");
	struct heaps h = gpus_heaps(gpu);
	int width = gpus_narrow(c) ? 10 : c->cols < 160 ? 16 : 30, bar;
	int col = gpus_first_row(top, c, row++, gpu);

	/* Two heaps share a row: their bars take what the numbers leave. */
	bar = c->cols - gpus_heap_columns(&h.gtt) -
	      gpus_heap_columns(gpus_narrow(c) ? &h.host : &h.vram);
	bar = bar / 2 - 1 < width ? bar / 2 - 1 : width;
	if (!gpus_narrow(c))
		gpus_spark(top, c, row - 1, col, device);
	col = *unreadable ? davy_canvas_format(c, row, 2, DAVY_STYLE_WARNING, "memory unknown: %s",
					       unreadable)
			  : gpus_memory(c, row, 2, bar, &h.vram);
	if (gpus_narrow(c))
		gpus_spark(top, c, row++, col, device);
	col = gpus_memory(c, row, gpus_narrow(c) ? 2 : col, bar, &h.gtt);
	if (!gpus_narrow(c))
		row++;
	col = gpus_memory(c, row, gpus_narrow(c) ? col : 2, bar, &h.host);
	if (gpus_narrow(c))
		row++;
	gpus_ring(c, row, gpus_narrow(c) ? 2 : col, width, gpu);
	return row + 1;
}

int davy_draw_gpus_rows(const struct davy_canvas *c)
{
	return gpus_narrow(c) ? 4 : 3;
}

int davy_draw_gpus(const struct davy_top *top, struct davy_canvas *c, int row, int rows)
{
	const json_t *list = json_object_get(top->answer[0], "gpus");
	size_t count = json_array_size(list), first = 0, i;
	int end = row + rows;

	if (top->panel == DAVY_TOP_GPUS && top->chosen[DAVY_TOP_GPUS] < count)
		first = top->chosen[DAVY_TOP_GPUS];
	for (i = first; i < count && row + davy_draw_gpus_rows(c) <= end; i++) {
		int start = row;

		row = gpus_one(top, c, row, json_array_get(list, i));
		if (top->panel == DAVY_TOP_GPUS && i == first)
			davy_canvas_mark(c, start, DAVY_STYLE_CHOSEN);
	}
	if (i - first < count && row < end)
		davy_canvas_format(c, row++, 2, DAVY_STYLE_DIM, "%zu more GPUs (Tab, then arrows)",
				   count - (i - first));
	return row;
}
