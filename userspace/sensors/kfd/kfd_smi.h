/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's SMI events as text: a line each, "EVENT PAYLOAD", the event's number in hex (the formats:
 * amdkfd/kfd_smi_events.c of 6.1, 6.12 and 7.2; KFD_EVENT_FMT_* in uapi/linux/kfd_ioctl.h). Pure,
 * and outside input: a line may hold a process's name, which the process chose.
 */
#ifndef DAVY_KFD_SMI_H
#define DAVY_KFD_SMI_H

#include "core/event/event.h"

#define DAVY_KFD_LINE_MAX 96 /* KFD_SMI_EVENT_MSG_SIZE: with the newline */

struct davy_kfd_said {
	struct davy_ev_kfd kfd; /* its device is left empty */
	uint32_t pid;		/* as the driver writes it; 0: nobody is named */
	/*
	 * The pid is a thread's, of the first pid namespace. Else it is a process's: of the first
	 * namespace up to 6.12, of its own since 7.2.
	 */
	bool thread;
};

/* A line without its newline; -EBADMSG when no kernel writes such a one. */
int davy_kfd_smi_parse(const char *line, size_t len, struct davy_kfd_said *ret_said);

/*
 * What comes from one descriptor, in pieces. A name with a newline in it looks like the lines of
 * other events: what a name has room for is passed over behind it. Zeroed to begin with.
 */
struct davy_kfd_smi {
	char rest[DAVY_KFD_LINE_MAX]; /* a line whose end has not come yet */
	size_t rest_len;
	bool too_long; /* the rest was thrown away up to here, until its end */
	size_t name_left;
	uint64_t refused_count; /* lines */
};

typedef void davy_kfd_said_fn(void *arg, const struct davy_kfd_said *said);

/* Returns how many lines were told. */
size_t davy_kfd_smi_feed(struct davy_kfd_smi *s, const char *data, size_t size,
			 davy_kfd_said_fn *tell, void *arg);

#endif
