/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: all events that entered the core, in order. A file is a 16-byte header ("DLTRACE", NUL,
 * version, zero) and a zstd stream of records: u16 kind, u16 payload size, u32 pid, u64 ns,
 * payload; little endian. Written in flushed blocks, so that a killed agent's trace is whole up to
 * its last flush, and in frames of some 10 s with a checksum each, so that a flipped bit is an
 * error within 10 s. A reader gives everything whole before the place where a trace is cut or
 * corrupted; older traces are one frame without a checksum.
 */
#ifndef DL_STORE_TRACE_H
#define DL_STORE_TRACE_H

#include "core/event/event.h"

#define DL_TRACE_VERSION 2

struct dl_trace_writer;
struct dl_trace_reader;

int dl_trace_create(const char *path, struct dl_trace_writer **ret_writer);
int dl_trace_write(struct dl_trace_writer *w, const struct dl_event *ev);
int dl_trace_flush(struct dl_trace_writer *w);
/* Ends the stream; NULL is allowed. The first error of the writer's life, or 0. */
int dl_trace_close(struct dl_trace_writer *w);

/* -EINVAL: no trace; -EPROTONOSUPPORT: of a newer version. */
int dl_trace_open(const char *path, struct dl_trace_reader **ret_reader);
/* 1: *ret_event holds the next valid event; 0: the end; -EBADMSG: cut or corrupted here. */
int dl_trace_next(struct dl_trace_reader *r, struct dl_event *ret_event);
void dl_trace_reader_free(struct dl_trace_reader *r);

#endif
