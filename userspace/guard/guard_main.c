/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-guard: started by the agent only, see guard_order.h. */
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/file.h"
#include "guard/guard.h"

static const char usage[] = "davylamp-guard is started by 'davylamp run' only\n";

static bool started_by_agent(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(DAVY_GUARD_FD, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
		return false;
	return !syscall(SYS_pidfd_send_signal, DAVY_GUARD_AGENT_FD, 0, NULL, 0) || errno != EBADF;
}

int main(void)
{
	if (!started_by_agent()) {
		davy_write_all(STDERR_FILENO, usage, sizeof(usage) - 1);
		return 2;
	}
	return davy_guard_run(DAVY_GUARD_FD, DAVY_GUARD_AGENT_FD);
}
