/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/file.h"
#include "../sensors/elf_site.h"
#include "../sensors/inside.h"
#include "functions.h"
#include "step.h"

#define FILES_MAX 256
#define LINKS_MAX 700 /* each is a descriptor */
#define LINES_MAX 20000
#define PAGE	  4096 /* x86-64 */

struct place {
	dev_t device;
	ino_t inode;
	uint64_t offset; /* 0: the file was looked at */
};

struct dl_probes {
	struct dl_probe_programs programs;
	struct bpf_link *link[LINKS_MAX];
	size_t link_count;
	struct place place[FILES_MAX + LINKS_MAX];
	size_t place_count;
};

int dl_probes_new(const struct dl_probe_programs *programs, struct dl_probes **ret_probes)
{
	struct dl_probes *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->programs = *programs;
	*ret_probes = p;
	return 0;
}

void dl_probes_free(struct dl_probes *p)
{
	for (size_t i = 0; p && i < p->link_count; i++)
		bpf_link__destroy(p->link[i]);
	free(p);
}

/*
 * The file is held open meanwhile: a mapping may change, and its process end. 1: it is new, and
 * noted; 0: it was there.
 */
static int note(struct dl_probes *p, int fd, uint64_t offset)
{
	struct place *place;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	for (size_t i = 0; i < p->place_count; i++) {
		place = &p->place[i];
		if (place->device == st.st_dev && place->inode == st.st_ino &&
		    place->offset == offset)
			return 0;
	}
	if (p->place_count == sizeof(p->place) / sizeof(p->place[0]))
		return -ENOSPC;
	place = &p->place[p->place_count++];
	place->device = st.st_dev;
	place->inode = st.st_ino;
	place->offset = offset;
	return 1;
}

static int attach(struct dl_probes *p, const struct bpf_program *program, const char *path,
		  uint64_t offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link;

	if (p->link_count == LINKS_MAX)
		return -ENOSPC;
	link = bpf_program__attach_uprobe_opts(program, -1, path, offset, &opts);
	if (!link)
		return -errno;
	p->link[p->link_count++] = link;
	return 0;
}

static bool of_library(const struct dl_function *f, const char *name)
{
	const char *base, *end;

	if (!name) /* an engine that has ggml inside; a libc's functions are in the libc */
		return f->family != DL_FAMILY_NONE;
	base = dl_step_base(name);
	end = strstr(base, ".so");
	return end && strlen(f->library) == (size_t)(end - base) &&
	       !strncmp(base, f->library, (size_t)(end - base));
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

int dl_probes_library(struct dl_probes *p, const char *path, const char *name)
{
	char self[DL_SELF_FD_SIZE];
	DL_FD fd = -1;
	const char *symbols[DL_FUNCTIONS_MAX];
	uint64_t offsets[DL_FUNCTIONS_MAX];
	uint32_t rows[DL_FUNCTIONS_MAX];
	size_t count = 0;
	int err, put = 0;

	for (uint32_t i = 0; i < dl_function_count; i++)
		if (of_library(&dl_functions[i], name)) {
			symbols[count] = dl_functions[i].symbol;
			rows[count++] = i;
		}
	if (!count)
		return 0;
	fd = open_file(path);
	if (fd < 0)
		return fd;
	err = note(p, fd, 0);
	if (err <= 0)
		return err;
	err = dl_elf_exports(dl_self_fd(fd, self), symbols, count, offsets);
	for (size_t i = 0; err > 0 && i < count; i++)
		if (offsets[i])
			put += !attach(p, p->programs.call, self, offsets[i], rows[i]);
	return err < 0 ? err : put;
}

int dl_probes_linker(struct dl_probes *p, const char *path)
{
	static const char *const symbols[] = { "_dl_signal_error", "_dl_exception_create",
					       "_dl_exception_create_format", "_dl_debug_state" };
	const struct bpf_program *programs[] = { p->programs.signal_error, p->programs.exception,
						 p->programs.exception_format, p->programs.loaded };
	uint64_t offsets[4];
	char self[DL_SELF_FD_SIZE];
	DL_FD fd = open_file(path);
	int put = 0, err;

	if (fd < 0)
		return fd;
	err = note(p, fd, 0);
	if (err <= 0)
		return err;
	err = dl_elf_exports(dl_self_fd(fd, self), symbols, 4, offsets);
	for (size_t i = 0; err > 0 && i < 4; i++)
		if (offsets[i])
			put += !attach(p, programs[i], self, offsets[i], 0);
	return err < 0 ? err : put;
}

static bool is_linker(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
	       !strcmp(name, "ld.so");
}

/* "55d0..-55d1.. r-xp 00001000 fe:00 1234   /usr/bin/x" */
static void look_at_mapping(struct dl_probes *p, uint32_t pid, const char *line, bool *first)
{
	const char *path = strchr(line, '/'), *base;
	unsigned long begin, end;
	char link[PATH_MAX], name[NAME_MAX + 1];

	if (!path || sscanf(line, "%lx-%lx", &begin, &end) != 2 ||
	    dl_root_path(link, sizeof(link), "/proc/%u/map_files/%lx-%lx", pid, begin, end))
		return;
	base = dl_step_base(path);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "\n"), base);
	if (is_linker(name))
		(void)dl_probes_linker(p, link);
	else
		(void)dl_probes_library(p, link, *first ? NULL : name);
	*first = false;
}

void dl_probes_process(struct dl_probes *p, uint32_t pid)
{
	char path[PATH_MAX], *line = NULL;
	bool first = true; /* the executable is mapped lowest of all files, or a PIE just below */
	size_t size = 0;
	DL_FILE file = NULL;

	if (dl_root_path(path, sizeof(path), "/proc/%u/maps", pid))
		return;
	file = fopen(path, "re");
	for (int i = 0; file && i < LINES_MAX && getline(&line, &size, file) > 0; i++)
		if (strchr(line, '/'))
			look_at_mapping(p, pid, line, &first);
	free(line);
}

/* In the file that is mapped from "begin" to "end", whose first byte there is at "offset". */
static int put_site(struct dl_probes *p, const struct dl_start_step *call, unsigned long begin,
		    unsigned long end, uint64_t offset)
{
	char link[PATH_MAX], self[DL_SELF_FD_SIZE];
	DL_FD fd = -1;
	int err;

	err = dl_root_path(link, sizeof(link), "/proc/%u/map_files/%lx-%lx", call->pid, begin, end);
	if (err)
		return err;
	offset += call->address - begin;
	fd = open_file(link);
	if (fd < 0)
		return fd;
	err = note(p, fd, offset);
	if (err <= 0)
		return err;
	return attach(p, p->programs.back, dl_self_fd(fd, self), offset, 0);
}

static int site_in(struct dl_probes *p, const struct dl_start_step *call, const char *line)
{
	unsigned long begin, end, offset;

	if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) != 3 || call->address < begin ||
	    call->address >= end)
		return -EAGAIN;
	/* without a name: code that was made at run time */
	return strchr(line, '/') ? put_site(p, call, begin, end, offset) : -ENOENT;
}

int dl_probes_site(struct dl_probes *p, const struct dl_start_step *call)
{
	char path[PATH_MAX], *line = NULL;
	int err = -EAGAIN;
	size_t size = 0;
	DL_FILE file = NULL;

	if (call->vma_begin)
		return put_site(p, call, call->vma_begin, call->vma_end, call->vma_page * PAGE);
	if (dl_root_path(path, sizeof(path), "/proc/%u/maps", call->pid))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	for (int i = 0; err == -EAGAIN && file && i < LINES_MAX && getline(&line, &size, file) > 0;
	     i++)
		err = site_in(p, call, line);
	free(line);
	return err == -EAGAIN ? -ENOENT : err;
}
