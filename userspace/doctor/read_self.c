/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp's own requirements, and the host's memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/gguf.h"
#include "lib/file.h"
#include "sensors/gpu/host_memory.h"
#include "doctor/read.h"

static bool read_self_there(const char *name)
{
	char path[PATH_MAX];

	return !davy_root_path(path, sizeof(path), "%s", name) && !access(path, F_OK);
}

/* "none [integrity] confidentiality" */
static void read_lockdown(struct davy_doctor_self *self)
{
	char path[PATH_MAX], text[128];
	const char *open;

	if (davy_root_path(path, sizeof(path), "/sys/kernel/security/lockdown") ||
	    davy_read_file(path, text, sizeof(text)) <= 0)
		return;
	open = strchr(text, '[');
	if (open)
		snprintf(self->lockdown, sizeof(self->lockdown), "%.*s",
			 (int)strcspn(open + 1, "]\n"), open + 1);
}

static uint64_t read_capabilities(void)
{
	char text[8192];
	const char *at;

	if (davy_read_file("/proc/self/status", text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nCapEff:");
	return at ? strtoull(at + 8, NULL, 16) : 0;
}

void davy_read_self(struct davy_doctor_facts *facts)
{
	struct davy_doctor_self *self = &facts->self;
	struct davy_ev_memory memory = { 0 };
	char path[PATH_MAX];
	uint64_t enabled;

	self->root = !geteuid();
	self->capabilities = read_capabilities();
	self->btf = read_self_there("/sys/kernel/btf/vmlinux");
	read_lockdown(self);
	self->ftrace_off = !davy_root_path(path, sizeof(path), "/proc/sys/kernel/ftrace_enabled") &&
			   !davy_read_number(path, &enabled) && !enabled;
	davy_host_memory_read(&memory);
	facts->memory_available = memory.host_available;
}

void davy_read_model(struct davy_doctor_facts *facts, const char *path)
{
	struct davy_doctor_model *m = &facts->model;
	DAVY_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct davy_gguf gguf;
	struct stat st;

	m->asked = true;
	davy_copy_name(m->path, sizeof(m->path), path);
	if (fd < 0 || fstat(fd, &st)) {
		m->error = -errno;
		return;
	}
	m->error = S_ISREG(st.st_mode) ? davy_gguf_read(fd, (uint64_t)st.st_size, &gguf) : -EINVAL;
	if (m->error)
		return;
	m->bytes = gguf.file_bytes;
	m->layers = gguf.block_count;
}
