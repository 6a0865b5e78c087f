/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-guard: started by the agent only, see guard_order.h. */
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"
#include "guard/guard.h"

static const char usage[] = "davylamp-guard: not for use by hand: 'davylamp run' starts it\n";

static bool started_by_agent(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(DL_GUARD_FD, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
		return false;
	return !syscall(SYS_pidfd_send_signal, DL_GUARD_AGENT_FD, 0, NULL, 0) || errno != EBADF;
}

int main(void)
{
	if (!started_by_agent()) {
		dl_write_all(STDERR_FILENO, usage, sizeof(usage) - 1);
		return 2;
	}
	return dl_guard_run(DL_GUARD_FD, DL_GUARD_AGENT_FD);
}
