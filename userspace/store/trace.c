/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/file.h"

#define BUFFER_SIZE (128 * 1024)
#define PAYLOAD_MAX 8192 /* of a newer davylamp */
#define LEVEL	    3
#define FRAME_NS    (10 * DAVY_NS_PER_S)

static const char magic[8] = "DLTRACE";

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t zero;
};

struct record_header {
	uint16_t kind;
	uint16_t size;
	uint32_t pid;
	uint64_t at_ns;
};

_Static_assert(sizeof(struct trace_header) == 16, "trace format");
_Static_assert(sizeof(struct record_header) == 16, "trace format");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "traces are written as they lie in memory");

struct davy_trace_writer {
	int fd;
	int error;
	bool frame_open;
	uint64_t frame_ns; /* start of the frame */
	uint64_t last_ns;
	off_t whole_bytes; /* bytes of the file: header and ended frames */
	ZSTD_CCtx *zstd;
	char out[BUFFER_SIZE];
};

struct davy_trace_reader {
	int fd;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer input;
	size_t have; /* filled bytes of "plain" */
	size_t used; /* consumed bytes of "plain" */
	bool ended;  /* end of the file */
	bool frame_open;
	uint64_t skipped; /* records of unknown kinds */
	size_t hint;	  /* size that the next decompression step takes */
	char in[BUFFER_SIZE];
	char plain[2 * BUFFER_SIZE]; /* the rest of a record, and a whole block after it */
};

static void writer_free(struct davy_trace_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

int davy_trace_create(const char *path, struct davy_trace_writer **ret_writer)
{
	struct trace_header header = { .version = DAVY_TRACE_VERSION };
	struct davy_trace_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	memcpy(header.magic, magic, sizeof(magic));
	w->zstd = ZSTD_createCCtx();
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	err = w->fd < 0 ? -errno : 0;
	if (!w->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)))
		err = err ? err : -ENOMEM;
	if (!err)
		err = davy_write_all(w->fd, &header, sizeof(header));
	if (err) {
		writer_free(w);
		return err;
	}
	w->whole_bytes = sizeof(header);
	*ret_writer = w;
	return 0;
}

static int pump(struct davy_trace_writer *w, const void *data, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->out, sizeof(w->out), 0 };

		left = ZSTD_compressStream2(w->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		w->error = davy_write_all(w->fd, w->out, out.pos);
		if (w->error)
			return w->error;
	} while (end == ZSTD_e_continue ? in.pos < in.size : left);
	return 0;
}

int davy_trace_write(struct davy_trace_writer *w, const struct davy_event *ev)
{
	struct record_header header = {
		.kind = (uint16_t)ev->kind,
		.size = (uint16_t)davy_event_payload_size(ev->kind),
		.pid = ev->pid,
		.at_ns = ev->at_ns,
	};
	int err = w->error;

	if (!w->frame_open)
		w->frame_ns = ev->at_ns;
	w->frame_open = true;
	w->last_ns = ev->at_ns;
	if (!err)
		err = pump(w, &header, sizeof(header), ZSTD_e_continue);
	if (!err && header.size)
		err = pump(w, &ev->config, header.size, ZSTD_e_continue);
	w->error = err;
	return err;
}

static void end_frame(struct davy_trace_writer *w)
{
	if (!w->error && w->frame_open)
		w->error = pump(w, NULL, 0, ZSTD_e_end);
	if (!w->error && w->frame_open)
		w->whole_bytes = lseek(w->fd, 0, SEEK_CUR);
	w->frame_open = false;
}

int davy_trace_flush(struct davy_trace_writer *w)
{
	if (w->frame_open && w->last_ns - w->frame_ns >= FRAME_NS)
		end_frame(w);
	else if (!w->error)
		w->error = pump(w, NULL, 0, ZSTD_e_flush);
	return w->error;
}

int davy_trace_close(struct davy_trace_writer *w)
{
	int err;

	if (!w)
		return 0;
	end_frame(w);
	err = w->error;
	/* This fails on a device. A reader then detects where the trace is cut. */
	if (err && ftruncate(w->fd, w->whole_bytes))
		w->whole_bytes = 0;
	writer_free(w);
	return err;
}

static int check_header(int fd)
{
	struct trace_header header;
	ssize_t n = read(fd, &header, sizeof(header));

	if (n < 0)
		return -errno;
	if (n != sizeof(header) || memcmp(header.magic, magic, sizeof(magic)) != 0 || header.zero)
		return -EINVAL;
	if (header.version < DAVY_TRACE_VERSION)
		return -ESTALE;
	return header.version == DAVY_TRACE_VERSION ? 0 : -EPROTONOSUPPORT;
}

int davy_trace_open(const char *path, struct davy_trace_reader **ret_reader)
{
	struct davy_trace_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->input.src = r->in;
	r->hint = 1;
	r->zstd = ZSTD_createDCtx();
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		err = -errno;
	else
		err = r->zstd ? check_header(r->fd) : -ENOMEM;
	if (err) {
		davy_trace_reader_free(r);
		return err;
	}
	*ret_reader = r;
	return 0;
}

void davy_trace_reader_free(struct davy_trace_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

/* One read or one decompression; 1: it gave plain bytes or may still do so, 0: the end. */
static int refill_once(struct davy_trace_reader *r)
{
	ZSTD_outBuffer out = { r->plain, sizeof(r->plain), r->have };
	ZSTD_inBuffer step = { r->in, 0, 0 };
	size_t state;
	ssize_t n;

	if (r->input.pos == r->input.size && !r->ended) {
		n = read(r->fd, r->in, sizeof(r->in));
		if (n < 0)
			return errno == EINTR ? 1 : -errno;
		r->ended = n == 0;
		r->input.size = (size_t)n;
		r->input.pos = 0;
	}
	/*
	 * Decompresses one block at a time: otherwise an error would discard the earlier blocks of
	 * a call.
	 */
	step.pos = step.size = r->input.pos;
	step.size += r->hint < r->input.size - step.pos ? r->hint : r->input.size - step.pos;
	state = ZSTD_decompressStream(r->zstd, &out, &step);
	if (ZSTD_isError(state))
		return -EBADMSG;
	if (step.pos != r->input.pos || out.pos != r->have)
		r->frame_open = state != 0; /* a call without progress hints at a later frame */
	r->input.pos = step.pos;
	r->hint = state ? state : 1;
	if (out.pos == r->have && r->ended)
		return 0;
	r->have = out.pos;
	return 1;
}

/* Makes "size" plain bytes available; 1, or 0 if the file ends before. */
static int trace_want(struct davy_trace_reader *r, size_t size)
{
	int more = 1;

	assert(size <= sizeof(r->plain));
	while (r->have - r->used < size && more > 0) {
		memmove(r->plain, r->plain + r->used, r->have - r->used);
		r->have -= r->used;
		r->used = 0;
		more = refill_once(r);
	}
	if (more < 0)
		return more;
	return r->have - r->used >= size;
}

/* Consumes a record; 1 if its kind is known and its event valid, 0 if it was skipped. */
static int trace_take(struct davy_trace_reader *r, const struct record_header *header,
		      struct davy_event *ret_event)
{
	const char *payload = r->plain + r->used + sizeof(*header);
	struct davy_event ev = { .at_ns = header->at_ns, .kind = header->kind, .pid = header->pid };
	size_t size;

	r->used += sizeof(*header) + header->size;
	if (header->kind >= DAVY_EV_COUNT) {
		r->skipped++;
		return 0;
	}
	size = davy_event_payload_size(header->kind);
	memcpy(&ev.config, payload, header->size < size ? header->size : size);
	if (!davy_event_valid(&ev))
		return -EBADMSG;
	*ret_event = ev;
	return 1;
}

int davy_trace_next(struct davy_trace_reader *r, struct davy_event *ret_event)
{
	struct record_header header;
	int ok;

	do {
		ok = trace_want(r, sizeof(header));
		if (ok < 0)
			return ok;
		if (!ok)
			return r->have != r->used || r->frame_open ? -EBADMSG : 0;
		memcpy(&header, r->plain + r->used, sizeof(header));
		if (!header.kind || header.size > PAYLOAD_MAX)
			return -EBADMSG;
		ok = trace_want(r, sizeof(header) + header.size);
		if (ok <= 0)
			return ok < 0 ? ok : -EBADMSG;
		ok = trace_take(r, &header, ret_event);
	} while (!ok);
	return ok;
}

uint64_t davy_trace_skipped(const struct davy_trace_reader *r)
{
	return r->skipped;
}
