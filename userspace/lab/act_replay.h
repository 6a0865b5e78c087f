/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent would do about the alarms of a trace. A second core judges the trace, with every
 * engine adopted and in mode advise. It is separate from the core that raises the alarms, because
 * an adopted engine is also checked by requests. A trace has no answers: an engine whose graph is
 * in flight since before the check gives none, one whose graphs end gives a token. Checks of
 * engines without such events stay open.
 */
#ifndef DAVY_ACT_REPLAY_H
#define DAVY_ACT_REPLAY_H

#include "lab/alarm_judge.h"

struct davy_acts;

struct davy_acts *davy_acts_new(const struct davy_config *config); /* NULL: no memory */
void davy_acts_free(struct davy_acts *acts);

/* Tells the judge every action that the events lead to. */
void davy_acts_replay(struct davy_acts *acts, struct davy_judge *judge,
		      const struct davy_event *events, size_t count);

#endif
