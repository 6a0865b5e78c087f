/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the judge share. Only stages*.c include this. */
#ifndef DAVY_STAGES_STATE_H
#define DAVY_STAGES_STATE_H

#include "trace/stages.h"

/* Copies as much as fits. */
void davy_keep(char *to, size_t size, const char *from);

/* The process's entry, made when there is none; NULL when all are taken by living ones. */
struct davy_start_process *davy_stages_get(struct davy_stages *s, uint32_t pid);

/* A new cause of that process at "step"; never NULL, what does not fit is counted and forgotten. */
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
