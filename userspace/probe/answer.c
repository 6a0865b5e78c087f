/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/json_text.h"
#include "lib/text.h"

#define TEXT_MAX 512

static struct {
	int fd;
	bool stages;
	int landlock_abi;
	char last[16];
} out = { .fd = STDOUT_FILENO };

int davy_answer_open(bool stages)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int err = 0;

	if (fd < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		err = -errno;
	if (nowhere >= 0)
		close(nowhere);
	if (err)
		return err;
	out.fd = fd;
	out.stages = stages;
	return 0;
}

static int write_line(const char *line, size_t size)
{
	while (size) {
		ssize_t n = write(out.fd, line, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 1;
		line += n;
		size -= (size_t)n;
	}
	return 0;
}

void davy_answer_stage(const char *stage, const char *device)
{
	char line[96];
	int n;

	snprintf(out.last, sizeof(out.last), "%s", stage);
	if (!out.stages)
		return;
	n = snprintf(line, sizeof(line),
		     device ? "{\"stage\":\"%s\",\"device\":\"%s\"}\n" : "{\"stage\":\"%s\"}\n",
		     stage, device);
	if (n > 0 && (size_t)n < sizeof(line))
		write_line(line, (size_t)n);
}

const char *davy_answer_last_stage(void)
{
	return out.last;
}

void davy_answer_sandbox(int landlock_abi)
{
	out.landlock_abi = landlock_abi;
}

int davy_answer_give(json_t *answer)
{
	char *line;
	int failed = 1;

	json_object_set_new(answer, "landlock", json_boolean(out.landlock_abi > 0));
	json_object_set_new(answer, "landlock_abi", json_integer(out.landlock_abi));
	line = answer ? davy_json_text(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	if (line) {
		failed = write_line(line, strlen(line));
		if (!failed)
			failed = write_line("\n", 1);
	}
	free(line);
	return failed;
}

json_t *davy_answer_text(const char *text)
{
	char safe[TEXT_MAX];

	return json_string(davy_text_safe(safe, sizeof(safe), text));
}
