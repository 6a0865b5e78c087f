/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Not for people: the agent starts it, see act/guard.h. */
#include <sys/socket.h>

#include "../act/guard.h"
#include "verbs.h"

int dl_verb_guard(int argc, char **argv)
{
	int type = 0;
	socklen_t size = sizeof(type);

	(void)argv;
	if (argc > 1 || getsockopt(DL_GUARD_FD, SOL_SOCKET, SO_TYPE, &type, &size) ||
	    type != SOCK_SEQPACKET) {
		dl_log("'davylamp guard' is started by 'davylamp run', which see");
		return DL_EXIT_USAGE;
	}
	return dl_guard_run(DL_GUARD_FD);
}
