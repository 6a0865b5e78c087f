/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent answers: status and the lines since the last answer, as one pair. It comes from
 * the agent's socket or from a recording. Only top/ includes this.
 */
#ifndef DAVY_FEED_IN_H
#define DAVY_FEED_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct davy_feed_in {
	const char *socket_path;
	FILE *replayed;		    /* recorded answers instead of an agent; NULL: the agent */
	FILE *record;		    /* NULL: no recording */
	json_int_t started_ns;	    /* of the agent that answered last: a new one counts from 0 */
	json_int_t decision, event; /* numbers of the next lines */
};

/*
 * Asks once. 0: *ret_status is a new reference, and the new lines, in order, are appended to
 * "lines". -ENOENT and -ECONNREFUSED: no agent; -ENODATA: the recording has ended.
 */
int davy_feed_in_take(struct davy_feed_in *f, json_t **ret_status, json_t *lines);

#endif
