/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into a program: on SIGUSR1, the program itself tries to open the files of TRIES for
 * writing, to execute, to connect and to trace. Each line on stderr has the attempt and its errno.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char paths[4096];

static void tell(const char *what, const char *path, long result)
{
	char line[4500];
	int error = result < 0 ? errno : 0;
	int n = snprintf(line, sizeof(line), "%s %s: %d\n", what, path, error);

	if (write(2, line, (size_t)n) < 0)
		_exit(9);
	if (result > 2)
		close((int)result);
}

static void try_all(int signal)
{
	char copy[sizeof(paths)], *rest = copy, *path;
	struct { unsigned long long flags, mode, resolve; } how = { .flags = O_RDWR };
	char *const none[] = { NULL };

	(void)signal;
	memcpy(copy, paths, sizeof(copy));
	while ((path = strsep(&rest, ":"))) {
		tell("open-rdwr", path, open(path, O_RDWR));
		tell("open-append", path, open(path, O_WRONLY | O_APPEND));
		tell("openat2", path, syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
		tell("truncate", path, truncate(path, 0));
		tell("unlink", path, unlink(path));
		tell("chmod", path, chmod(path, 0666));
	}
	tell("execve", "/bin/true", execve("/bin/true", none, none));
	tell("fork", "", syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
	tell("socket", "inet", socket(AF_INET, SOCK_STREAM, 0));
	tell("socket", "netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	tell("ptrace", "1", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
	tell("kill", "1", kill(1, 0));
	tell("ioctl", "", ioctl(0, 0x5401, 0));
	tell("tried", "all", 0);
}

static void __attribute__((constructor)) begin(void)
{
	const char *list = getenv("TRIES");

	snprintf(paths, sizeof(paths), "%s", list ? list : "");
	signal(SIGUSR1, try_all);
}
