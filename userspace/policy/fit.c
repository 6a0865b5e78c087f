/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/fit.h"

#include <assert.h>

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What of "bytes" lies on the device: its layers' share; the output is one layer more. */
static uint64_t share(const struct dl_fit_question *q, uint64_t bytes)
{
	uint64_t all = (uint64_t)q->layers + 1, part;

	if (q->gpu_layers < 0 || !q->layers || (uint64_t)q->gpu_layers >= all)
		return bytes;
	part = bytes / all;
	return part * (uint64_t)q->gpu_layers;
}

static void on_cpu(const struct dl_fit_question *q, uint64_t bytes, struct dl_fit *f)
{
	f->host_bytes = bytes;
	f->free_bytes = least(q->host_free, q->memory_max);
	if (f->free_bytes == DL_FIT_UNKNOWN)
		f->verdict = DL_FIT_NOT_KNOWN;
	else if (bytes <= f->free_bytes)
		f->verdict = DL_FIT_FITS;
	else
		f->verdict = q->memory_max <= q->host_free ? DL_FIT_LIMIT : DL_FIT_HOST;
}

/* The rest of what the device takes; a limit bounds it, for it is the process's own. */
static bool rest_fits(const struct dl_fit_question *q, struct dl_fit *f)
{
	uint64_t room = q->host_free;

	if (q->shared && room != DL_FIT_UNKNOWN)
		room -= least(room, f->device_bytes);
	if (f->host_bytes <= room && f->host_bytes <= q->memory_max)
		return true;
	f->verdict = f->host_bytes > q->memory_max ? DL_FIT_LIMIT : DL_FIT_HOST;
	f->free_bytes = f->verdict == DL_FIT_LIMIT ? q->memory_max : room;
	return false;
}

static void on_gpu(const struct dl_fit_question *q, uint64_t bytes, struct dl_fit *f)
{
	bool adapts = q->adapts && q->gpu_layers < 0;

	f->free_bytes = q->device_free;
	f->device_bytes = share(q, bytes);
	if (q->device_free == DL_FIT_UNKNOWN) {
		f->verdict = DL_FIT_NOT_KNOWN;
		return;
	}
	f->verdict = DL_FIT_FITS;
	if (f->device_bytes > q->device_free) {
		f->verdict = adapts ? DL_FIT_PARTLY : DL_FIT_DEVICE;
		if (!adapts)
			return;
		f->device_bytes = q->device_free;
	}
	f->host_bytes = bytes - f->device_bytes;
	if (f->host_bytes && !rest_fits(q, f))
		return;
	f->free_bytes = q->device_free;
}

void dl_fit_judge(const struct dl_fit_question *q, enum dl_backend backend, struct dl_fit *ret_fit)
{
	struct dl_fit f = { .verdict = DL_FIT_NOT_KNOWN };
	uint64_t bytes = plus(q->weight_bytes, q->cache_bytes);

	if (q->weight_bytes && backend == DL_BACKEND_CPU)
		on_cpu(q, bytes, &f);
	else if (q->weight_bytes)
		on_gpu(q, bytes, &f);
	assert(f.host_bytes <= bytes && f.device_bytes <= bytes);
	*ret_fit = f;
}

bool dl_fit_refuses(const struct dl_fit *f)
{
	return f->verdict == DL_FIT_DEVICE || f->verdict == DL_FIT_HOST ||
	       f->verdict == DL_FIT_LIMIT;
}
