/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the judge share. Only stages*.c include this. */
#ifndef DL_DISCOVERY_STAGES_STATE_H
#define DL_DISCOVERY_STAGES_STATE_H

#include "trace/stages.h"

/* Copies as much as fits. */
void dl_keep(char *to, size_t size, const char *from);

/* The process's entry, made when there is none; NULL when all are taken by living ones. */
struct dl_start_process *dl_stages_get(struct dl_stages *s, uint32_t pid);

/* A new cause of that process at "step"; never NULL, what does not fit is counted and forgotten. */
struct dl_cause *dl_stages_cause(struct dl_stages *s, enum dl_cause_kind kind, enum dl_stage stage,
				 enum dl_family family, const struct dl_start_step *step);

void dl_stages_raise(struct dl_start_process *p, enum dl_stage stage);
void dl_stages_headway(struct dl_start_process *p, enum dl_family family, enum dl_headway headway);

void dl_stages_open(struct dl_stages *s, struct dl_start_process *p,
		    const struct dl_start_step *step);
void dl_stages_map(struct dl_stages *s, struct dl_start_process *p,
		   const struct dl_start_step *step);
void dl_stages_link_error(struct dl_stages *s, struct dl_start_process *p,
			  const struct dl_start_step *step);
void dl_stages_call(struct dl_start_process *p, const struct dl_start_step *step);
void dl_stages_return(struct dl_stages *s, struct dl_start_process *p,
		      const struct dl_start_step *step);

#endif
