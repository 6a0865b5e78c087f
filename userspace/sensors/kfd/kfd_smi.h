/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's SMI events as text: one line each, "EVENT PAYLOAD", with the event number in hex (formats:
 * amdkfd/kfd_smi_events.c of 6.1, 6.12 and 7.2; KFD_EVENT_FMT_* in uapi/linux/kfd_ioctl.h). Pure.
 * The input is untrusted: a line may contain a process name.
 */
#ifndef DAVY_KFD_SMI_H
#define DAVY_KFD_SMI_H

#include "core/event/event.h"

#define DAVY_KFD_LINE_MAX 96 /* KFD_SMI_EVENT_MSG_SIZE: with the newline */

struct davy_kfd_said {
	struct davy_ev_kfd kfd; /* without its device */
	uint32_t pid;		/* as in the line; 0: none */
	/*
	 * True: the pid is a thread's, of the first pid namespace. False: it is a process's, up to
	 * 6.12 of the first namespace, since 7.2 of its own.
	 */
	bool thread;
};

/* Parses a line without its newline; -EBADMSG if no kernel writes such a line. */
int davy_kfd_smi_parse(const char *line, size_t len, struct davy_kfd_said *ret_said);

/*
 * Parser for the stream of one descriptor; zero-initialize it. A process name with a newline can
 * imitate other events. Therefore the bytes after a name that it could fill are skipped.
 */
struct davy_kfd_smi {
	char rest[DAVY_KFD_LINE_MAX]; /* an incomplete line */
	size_t rest_len;
	bool too_long; /* the line is too long: discard the rest of it */
	size_t name_left;
	uint64_t refused_count; /* lines */
};

typedef void davy_kfd_said_fn(void *arg, const struct davy_kfd_said *said);

/* Returns the number of reported lines. */
size_t davy_kfd_smi_feed(struct davy_kfd_smi *s, const char *data, size_t size,
			 davy_kfd_said_fn *report, void *arg);

#endif
