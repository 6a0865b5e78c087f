/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What davylamp itself finds here, and the host's memory. */
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

static bool there(const char *name)
{
	char path[PATH_MAX];

	return !dl_root_path(path, sizeof(path), "%s", name) && !access(path, F_OK);
}

/* "none [integrity] confidentiality" */
static void read_lockdown(struct dl_doctor_self *self)
{
	char path[PATH_MAX], text[128];
	const char *open;

	if (dl_root_path(path, sizeof(path), "/sys/kernel/security/lockdown") ||
	    dl_read_file(path, text, sizeof(text)) <= 0)
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

	if (dl_read_file("/proc/self/status", text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nCapEff:");
	return at ? strtoull(at + 8, NULL, 16) : 0;
}

void dl_read_self(struct dl_doctor_facts *facts)
{
	struct dl_doctor_self *self = &facts->self;
	struct dl_ev_memory memory = { 0 };
	char path[PATH_MAX];
	uint64_t enabled;

	self->root = !geteuid();
	self->capabilities = read_capabilities();
	self->btf = there("/sys/kernel/btf/vmlinux");
	self->tracefs =
		there("/sys/kernel/tracing/events") || there("/sys/kernel/debug/tracing/events");
	read_lockdown(self);
	self->ftrace_off = !dl_root_path(path, sizeof(path), "/proc/sys/kernel/ftrace_enabled") &&
			   !dl_read_number(path, &enabled) && !enabled;
	dl_host_memory_read(&memory);
	facts->memory_available = memory.host_available;
}

void dl_read_model(struct dl_doctor_facts *facts, const char *path)
{
	struct dl_doctor_model *m = &facts->model;
	DL_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct dl_gguf gguf;
	struct stat st;

	m->asked = true;
	dl_copy_name(m->path, sizeof(m->path), path);
	if (fd < 0 || fstat(fd, &st)) {
		m->error = -errno;
		return;
	}
	m->error = S_ISREG(st.st_mode) ? dl_gguf_read(fd, (uint64_t)st.st_size, &gguf) : -EINVAL;
	if (m->error)
		return;
	m->bytes = gguf.file_bytes;
	m->layers = gguf.block_count;
}
