/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-guard: started by the agent only, see act/guard.h. */
#include <stdio.h>
#include <sys/socket.h>

#include "guard.h"

int main(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(DL_GUARD_FD, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET) {
		fputs("davylamp-guard: is started by 'davylamp run', which see\n", stderr);
		return 2;
	}
	return dl_guard_run(DL_GUARD_FD);
}
