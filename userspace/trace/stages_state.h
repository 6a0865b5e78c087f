/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by stages*.c; only they include it. */
#ifndef DAVY_STAGES_STATE_H
#define DAVY_STAGES_STATE_H

#include "trace/stages.h"

/* Copies, truncated to the size. */
void davy_keep(char *to, size_t size, const char *from);

/* Finds or creates the process's entry; NULL: all are in use by running processes. */
struct davy_start_process *davy_stages_get(struct davy_stages *s, uint32_t pid);

/* Adds a cause of the process at "step". Never NULL: if full, it is counted and discarded. */
struct davy_cause *davy_stages_cause(struct davy_stages *s, enum davy_cause_kind kind,
				     enum davy_stage stage, enum davy_family family,
				     const struct davy_start_step *step);

void davy_stages_raise(struct davy_start_process *p, enum davy_stage stage);
void davy_stages_headway(struct davy_start_process *p, enum davy_family family,
			 enum davy_headway headway);

void davy_stages_open(struct davy_stages *s, struct davy_start_process *p,
		      const struct davy_start_step *step);
void davy_stages_map(struct davy_stages *s, struct davy_start_process *p,
		     const struct davy_start_step *step);
void davy_stages_link_error(struct davy_stages *s, struct davy_start_process *p,
			    const struct davy_start_step *step);
void davy_stages_call(struct davy_start_process *p, const struct davy_start_step *step);
void davy_stages_return(struct davy_stages *s, struct davy_start_process *p,
			const struct davy_start_step *step);

#endif
