/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: all events that entered the core, in order. A file is a 16-byte header ("DLTRACE", NUL,
 * version, zero) and a zstd stream of records: u16 kind, u16 payload size, u32 pid, u64 ns,
 * payload; little endian.
 *
 * Every later davylamp reads a trace of this version. Kinds, fields and named values are therefore
 * only appended (tests/unit/trace_layout.txt lists them). A shorter payload of an older davylamp is
 * completed with zeros, which are valid for each appended field. In a trace of a newer davylamp the
 * reader skips and counts unknown kinds, and ignores unknown fields. The version changes only if
 * that is not enough.
 *
 * A trace is written in flushed blocks, so that the trace of a killed agent is complete up to its
 * last flush, and in frames of about 10 s with a checksum each, so that a flipped bit is detected
 * within 10 s. A reader returns everything before the place where a trace is cut or corrupted.
 * Older traces are one frame without a checksum.
 */
#ifndef DAVY_TRACE_H
#define DAVY_TRACE_H

#include "core/event/event.h"

#define DAVY_TRACE_VERSION 2

struct davy_trace_writer;
struct davy_trace_reader;

int davy_trace_create(const char *path, struct davy_trace_writer **ret_writer);
int davy_trace_write(struct davy_trace_writer *w, const struct davy_event *ev);
int davy_trace_flush(struct davy_trace_writer *w);
/*
 * Ends the stream; NULL is allowed. Returns the writer's first error, or 0. After an error the file
 * is truncated to its last complete frame: up to 10 s of events are lost, and no record is torn.
 */
int davy_trace_close(struct davy_trace_writer *w);

/* -EINVAL: not a trace; -EPROTONOSUPPORT: from a newer version. */
int davy_trace_open(const char *path, struct davy_trace_reader **ret_reader);
/* 1: *ret_event is the next valid event; 0: the end; -EBADMSG: cut or corrupted here. */
int davy_trace_next(struct davy_trace_reader *r, struct davy_event *ret_event);
/* Records skipped so far because their kind is unknown. */
uint64_t davy_trace_skipped(const struct davy_trace_reader *r);
void davy_trace_reader_free(struct davy_trace_reader *r);

#endif
