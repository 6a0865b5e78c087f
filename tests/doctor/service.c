/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that acts as a service: "service UID GID GROUP,GROUP PIDFILE
 * NAME=VALUE...", with that environment; for the root of the lab, which has no coreutils.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	gid_t groups[16];
	size_t count = 0;
	FILE *file;

	if (argc < 5)
		return 2;
	if (argc > 5) {
		char *again[] = { argv[0], argv[1], argv[2], argv[3], argv[4], NULL };

		execve(argv[0], again, argv + 5);
		return 1;
	}
	file = fopen(argv[4], "w");
	for (char *at = strtok(argv[3], ","); at && count < 16; at = strtok(NULL, ","))
		groups[count++] = (gid_t)atoi(at);
	prctl(PR_SET_PDEATHSIG, 9);
	if (!file || setgroups(count, groups) || setgid((gid_t)atoi(argv[2])) ||
	    setuid((uid_t)atoi(argv[1])))
		return 1;
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	pause();
	return 0;
}
