/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is about the host and no device: a hung task with its stack is one event, and so is all that
 * the kernel says when memory runs out, up to the process it kills. For kmsg_block.c alone, whose
 * parts it uses.
 */
#ifndef DAVY_KMSG_HOST_BLOCK_H
#define DAVY_KMSG_HOST_BLOCK_H

#include "sensors/kmsg/kmsg_block.h"

/* A line that opens a block of the host's, or is an event by itself. */
void davy_log_host_take(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			const struct davy_kmsg_match *match);

/* Whether the line belongs to the open block; a match of no kind: the table does not know it. */
bool davy_log_host_follows(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			   const struct davy_kmsg_match *match);

/* kmsg_block.c: 0 when the clocks say nothing. */
uint64_t davy_log_elapsed(uint64_t from_ns, uint64_t to_ns, uint8_t clock);
void davy_log_set_meaning(struct davy_log_event *ev, uint16_t kind);
struct davy_log_event davy_log_make_event(struct davy_log_blocks *b, uint16_t kind,
					  const char *device, const struct davy_kmsg_line *line,
					  const struct davy_kmsg_match *match);
void davy_log_touch(struct davy_log_blocks *b, struct davy_log_slot *slot,
		    const struct davy_kmsg_line *line);
void davy_log_begin_block(struct davy_log_blocks *b, struct davy_log_slot *slot, uint16_t kind,
			  const struct davy_kmsg_line *line, const struct davy_kmsg_match *match);

/* Tells the slot's open block, if there is one. */
void davy_log_close_block(struct davy_log_blocks *b, struct davy_log_slot *slot);

#endif
