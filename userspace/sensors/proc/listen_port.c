/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/listen_port.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/file.h"

#define LINES_MAX  50000
#define TCP_LISTEN 0x0a

struct sockets {
	const unsigned long *inode;
	size_t count;
};

static int listen_port_is_ours(const struct sockets *s, unsigned long inode)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->inode[i] == inode)
			return 1;
	return 0;
}

/* "  0: 0100007F:2382 00000000:0000 0A 0:0 0:0 0 uid timeout inode ..." (proc(5)) */
static uint16_t listen_port_lowest(uint32_t pid, const char *table, const struct sockets *s,
				   uint16_t lowest)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	DAVY_FILE file = NULL;

	if (davy_root_path(path, sizeof(path), "/proc/%u/net/%s", pid, table))
		return lowest;
	file = fopen(path, "re");
	for (int i = 0; file && i < LINES_MAX && getline(&line, &size, file) > 0; i++) {
		unsigned int port, state;
		unsigned long inode;

		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu",
			   &port, &state, &inode) != 3)
			continue; /* the header line */
		if (state != TCP_LISTEN)
			break; /* the kernel lists listening sockets first */
		if (!port || port > UINT16_MAX || !listen_port_is_ours(s, inode))
			continue;
		if (!lowest || port < lowest)
			lowest = (uint16_t)port;
	}
	free(line);
	return lowest;
}

uint16_t davy_listen_port(uint32_t pid, const unsigned long *inodes, size_t count)
{
	const struct sockets s = { inodes, count };
	uint16_t port;

	if (!count)
		return 0;
	port = listen_port_lowest(pid, "tcp", &s, 0);
	return listen_port_lowest(pid, "tcp6", &s, port);
}
