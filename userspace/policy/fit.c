/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/fit.h"

#include <assert.h>

static uint64_t fit_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The part of "bytes" on the device: the share of its layers; the output counts as one layer. */
static uint64_t fit_share(const struct davy_fit_question *q, uint64_t bytes)
{
	uint64_t all = (uint64_t)q->layers + 1, part;

	if (q->gpu_layers < 0 || !q->layers || (uint64_t)q->gpu_layers >= all)
		return bytes;
	part = bytes / all;
	return part * (uint64_t)q->gpu_layers;
}

static void on_cpu(const struct davy_fit_question *q, uint64_t bytes, struct davy_fit *f)
{
	f->host_bytes = bytes;
	f->free_bytes = least(q->host_free, q->memory_max);
	if (f->free_bytes == DAVY_FIT_UNKNOWN)
		f->verdict = DAVY_FIT_NOT_KNOWN;
	else if (bytes <= f->free_bytes)
		f->verdict = DAVY_FIT_FITS;
	else
		f->verdict = q->memory_max <= q->host_free ? DAVY_FIT_LIMIT : DAVY_FIT_HOST;
}

/* The part that is not on the device; the limit of the process bounds it. */
static bool rest_fits(const struct davy_fit_question *q, struct davy_fit *f)
{
	uint64_t room = q->host_free;

	if (q->shared && room != DAVY_FIT_UNKNOWN)
		room -= least(room, f->device_bytes);
	if (f->host_bytes <= room && f->host_bytes <= q->memory_max)
		return true;
	f->verdict = f->host_bytes > q->memory_max ? DAVY_FIT_LIMIT : DAVY_FIT_HOST;
	f->free_bytes = f->verdict == DAVY_FIT_LIMIT ? q->memory_max : room;
	return false;
}

/* The layers of a larger model; 0: no option for it, or less than a quarter fits. */
static uint32_t layers_within(const struct davy_fit_question *q, uint64_t bytes)
{
	uint64_t all = (uint64_t)q->layers + 1, fit = q->vram_max / (bytes / all + 1);

	return q->sets_layers && q->layers && fit >= all / 4 ? (uint32_t)fit : 0;
}

static void fit_on_gpu(const struct davy_fit_question *q, uint64_t bytes, struct davy_fit *f)
{
	bool adapts = q->adapts && q->gpu_layers < 0;
	uint64_t quota = q->shared || !q->vram_max ? DAVY_FIT_UNKNOWN : q->vram_max;
	uint64_t room = least(q->device_free, quota);

	f->free_bytes = room;
	f->device_bytes = fit_share(q, bytes);
	if (room == DAVY_FIT_UNKNOWN) {
		f->verdict = DAVY_FIT_NOT_KNOWN;
		return;
	}
	f->verdict = DAVY_FIT_FITS;
	if (f->device_bytes > room) {
		if (room == quota) {
			f->layers = layers_within(q, bytes);
			adapts = f->layers;
		}
		f->verdict = adapts ? DAVY_FIT_PARTLY : DAVY_FIT_DEVICE;
		if (!adapts)
			return;
		f->device_bytes = room;
	}
	f->host_bytes = bytes - f->device_bytes;
	if (f->host_bytes && !rest_fits(q, f))
		return;
	f->free_bytes = room;
}

void davy_fit_judge(const struct davy_fit_question *q, enum davy_backend backend,
		    struct davy_fit *ret_fit)
{
	struct davy_fit f = { .verdict = DAVY_FIT_NOT_KNOWN };
	uint64_t bytes = fit_plus(q->weight_bytes, q->cache_bytes);

	if (q->weight_bytes && backend == DAVY_BACKEND_CPU)
		on_cpu(q, bytes, &f);
	else if (q->weight_bytes)
		fit_on_gpu(q, bytes, &f);
	assert(f.host_bytes <= bytes && f.device_bytes <= bytes);
	*ret_fit = f;
}

bool davy_fit_refuses(const struct davy_fit *f)
{
	return f->verdict == DAVY_FIT_DEVICE || f->verdict == DAVY_FIT_HOST ||
	       f->verdict == DAVY_FIT_LIMIT;
}
