/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-reader: reads untrusted data for the agent, with few rights and little memory. The agent
 * starts it with a socket as descriptor 3, kills it when it is late, and starts another one. See
 * reader_look.h for its answers.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/rights.h"
#include "reader/reader_look.h"

#define EXIT_DONE   0
#define EXIT_FAILED 1
#define EXIT_USAGE  2

#define CPU_OF_A_LOOK_S 3 /* longer than the agent's deadline */

static const char usage[] =
	"usage: davylamp-reader look VERSION [ROOT]\n"
	"\n"
	"Reads command line, environment, mappings, libraries and model of a process.\n"
	"Started only by davylamp, with a socket as descriptor 3. Its user, capabilities,\n"
	"memory and system calls are limited. ROOT: for tests, the folder that contains\n"
	"/proc and /sys.\n"
	"\n"
	"  -h, --help  print this text\n";

static int reader_send(const void *data, size_t size, const int *files, size_t file_count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(DAVY_LOOK_FILES * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)data, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file_count) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(file_count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(file_count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), files, file_count * sizeof(int));
	}
	return sendmsg(DAVY_LOOK_FD, &m, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

static int reader_answer(const struct davy_look_request *q)
{
	static struct davy_look_start start; /* one thread */
	struct davy_look_reply reply;
	int files[DAVY_LOOK_FILES], err;

	if (q->look == DAVY_LOOK_START) {
		davy_look_answer_start(q, &start);
		return reader_send(&start, sizeof(start), NULL, 0);
	}
	davy_look_answer(q, &reply, files);
	err = reader_send(&reply, sizeof(reply), files, reply.file_count);
	for (size_t i = 0; i < reply.file_count; i++)
		close(files[i]);
	return err;
}

static int reader_look(int argc, char **argv)
{
	struct davy_look_request q;
	ssize_t n;

	if (argc < 3 || argc > 4 || strcmp(argv[2], DAVY_LOOK_VERSION) != 0) {
		davy_log("davylamp-reader and davylamp are of different builds; install both "
			 "together");
		return EXIT_USAGE;
	}
	if (argc == 4)
		davy_root_set(argv[3]);
	while ((n = recv(DAVY_LOOK_FD, &q, sizeof(q), 0)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(q) || q.used.count > DAVY_DEVICES_MAX)
			return EXIT_FAILED;
		davy_rights_limit_cpu(CPU_OF_A_LOOK_S);
		if (reader_answer(&q))
			return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/*
 * CAP_SYS_PTRACE: /proc/PID/{environ,maps,exe,root,fd} of other users. CAP_DAC_READ_SEARCH: their
 * files, and /proc/PID/fd. CAP_CHECKPOINT_RESTORE: /proc/PID/map_files (fs/proc/base.c,
 * proc_map_files_get_link, since 5.9).
 */
#define LOOKS                                                                                      \
	(1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_CHECKPOINT_RESTORE)

static const struct mode {
	const char *name;
	struct davy_rights rights;
	int (*run)(int argc, char **argv);
} modes[] = {
	{ "look", { .capabilities = LOOKS }, reader_look },
};

int main(int argc, char **argv)
{
	pid_t parent = getppid();

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return fputs(usage, stdout) < 0 ? EXIT_FAILED : EXIT_DONE;
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		int err;

		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		err = davy_rights_keep(&modes[i].rights, parent);
		if (err) {
			davy_log("davylamp-reader cannot drop its rights: %s; exiting",
				 strerror(-err));
			return EXIT_FAILED;
		}
		_exit(modes[i].run(argc, argv));
	}
	davy_log("davylamp starts this program; see --help");
	return EXIT_USAGE;
}
