/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks about the host instead of a device. A hung task with its stack is one event. An
 * out-of-memory report up to the killed process is one event. Only kmsg_block.c includes this.
 */
#ifndef DAVY_KMSG_HOST_BLOCK_H
#define DAVY_KMSG_HOST_BLOCK_H

#include "sensors/kmsg/kmsg_block.h"

/* Processes a line that opens a block of the host or is a complete event. */
void davy_log_host_take(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			const struct davy_kmsg_match *match);

/* True if the line belongs to the open block. A match without a kind is not in the table. */
bool davy_log_host_follows(struct davy_log_blocks *b, const struct davy_kmsg_line *line,
			   const struct davy_kmsg_match *match);

/* kmsg_block.c: 0 if the clocks differ or are unknown. */
uint64_t davy_log_elapsed(uint64_t from_ns, uint64_t to_ns, uint8_t clock);
void davy_log_set_meaning(struct davy_log_event *ev, uint16_t kind);
/* Takes over the process that a line names, and reports it to "named". */
void davy_log_name_process(struct davy_log_blocks *b, struct davy_log_event *ev,
			   const struct davy_kmsg_match *match);
struct davy_log_event davy_log_make_event(struct davy_log_blocks *b, uint16_t kind,
					  const char *device, const struct davy_kmsg_line *line,
					  const struct davy_kmsg_match *match);
void davy_log_touch(struct davy_log_blocks *b, struct davy_log_slot *slot,
		    const struct davy_kmsg_line *line);
void davy_log_begin_block(struct davy_log_blocks *b, struct davy_log_slot *slot, uint16_t kind,
			  const struct davy_kmsg_line *line, const struct davy_kmsg_match *match);

/* Reports the open block of the slot, if any. */
void davy_log_close_block(struct davy_log_blocks *b, struct davy_log_slot *slot);

#endif
