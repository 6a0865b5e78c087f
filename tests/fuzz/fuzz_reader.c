/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the agent and its readers: replies of any content, and ELF files as the reader meets
 * them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sensors/proc/elf_site.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/look.h"

static void must_end(const char *text, size_t size)
{
	if (!memchr(text, 0, size))
		abort();
}

static void believe(const uint8_t *data, size_t size)
{
	struct davy_look_reply r = { 0 };
	struct davy_look_request q = { 0 };

	memcpy(&r, data, size < sizeof(r) ? size : sizeof(r));
	q.serial = r.serial;
	q.pid = r.pid;
	q.start_ticks = r.ev.start_ticks;
	if (!davy_look_reply_valid(&r, &q, r.file_count) || r.error)
		return;
	must_end(r.ev.comm, sizeof(r.ev.comm));
	must_end(r.ev.pod, sizeof(r.ev.pod));
	must_end(r.engine, sizeof(r.engine));
	if (r.ev.engine >= DAVY_ENGINE_COUNT || r.site_count > DAVY_LOOK_SITES)
		abort();
	for (size_t i = 0; i < r.site_count; i++)
		if (r.site[i].file >= r.file_count ||
		    !davy_site_name((enum davy_site)r.site[i].site))
			abort();
}

static void believe_start(const uint8_t *data, size_t size)
{
	static struct davy_look_start s;
	struct davy_look_request q = { 0 };
	struct davy_process_start *start;

	memset(&s, 0, sizeof(s));
	memcpy(&s, data, size < sizeof(s) ? size : sizeof(s));
	q.serial = s.serial;
	q.pid = s.pid;
	if (!davy_look_start_valid(&s, &q) || s.error)
		return;
	start = davy_process_start_of(s.command, s.command_size, s.environment, s.environment_size,
				      s.exe);
	free(start);
}

static void search(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a", "__cxa_throw" };
	static int fd = -1;
	uint64_t offsets[4];
	char path[DAVY_SELF_FD_SIZE];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return;
	davy_elf_site(davy_self_fd(fd, path), "a", true, offsets);
	davy_elf_exports(path, names, 2, offsets);
	davy_elf_returns(path, "a", 4, offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data % 3 == 0)
		believe(data + 1, size - 1);
	else if (*data % 3 == 1)
		believe_start(data + 1, size - 1);
	else
		search(data + 1, size - 1);
	return 0;
}
