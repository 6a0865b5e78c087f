/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/probes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/discovery.h"
#include "lib/file.h"
#include "sensors/proc/elf_site.h"
#include "sensors/proc/container_path.h"
#include "trace/functions.h"
#include "trace/start_step.h"
#include "trace/uprobes.h"

#define FILES_MAX  256
#define SITES_MAX  400
#define LINES_MAX  20000
#define LOOKED_MAX 512	/* a full table causes repeated reads only */
#define PAGE	   4096 /* x86-64 */

struct place {
	dev_t device;
	ino_t inode;
	uint64_t offset; /* 0: the file was read */
};

/* As in /proc/PID/maps; stat(2) differs on some file systems. */
struct mapped_file {
	unsigned int major, minor;
	unsigned long inode;
};

struct mapping {
	unsigned long begin, end, offset;
	struct mapped_file file;
	bool runs;
	const char *path; /* to the end of the line */
};

struct davy_probes {
	struct davy_probe_programs programs;
	struct davy_uprobes *uprobes;
	struct place place[FILES_MAX + SITES_MAX];
	size_t place_count;
	struct mapped_file looked[LOOKED_MAX]; /* files whose exports were read */
	size_t looked_count;
};

int davy_probes_new(const struct davy_probe_programs *programs, struct davy_probes **ret_probes)
{
	struct davy_probes *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = davy_uprobes_new(&p->uprobes);
	if (err) {
		free(p);
		return err;
	}
	p->programs = *programs;
	*ret_probes = p;
	return 0;
}

void davy_probes_free(struct davy_probes *p)
{
	if (p)
		davy_uprobes_free(p->uprobes);
	free(p);
}

/*
 * Keeps the file open, because the mapping may change and the process may end. 1: new, noted; 0:
 * known.
 */
static int probes_note(struct davy_probes *p, int fd, uint64_t offset)
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

static bool of_library(const struct davy_function *f, const char *name)
{
	const char *base, *end;

	if (!name) /* an engine with static ggml; libc's functions are only in libc */
		return f->family != DAVY_FAMILY_NONE;
	base = davy_step_base(name);
	end = strstr(base, ".so");
	return end && strlen(f->library) == (size_t)(end - base) &&
	       !strncmp(base, f->library, (size_t)(end - base));
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

int davy_probes_library(struct davy_probes *p, const char *path, const char *name)
{
	char self[DAVY_SELF_FD_SIZE];
	DAVY_FD fd = -1;
	const char *symbols[DAVY_FUNCTIONS_MAX];
	uint64_t offsets[DAVY_FUNCTIONS_MAX], rows[DAVY_FUNCTIONS_MAX];
	size_t count = 0, there = 0;
	int err;

	for (uint32_t i = 0; i < davy_function_count; i++)
		if (of_library(&davy_functions[i], name)) {
			symbols[count] = davy_functions[i].symbol;
			rows[count++] = i;
		}
	if (!count)
		return 0;
	fd = open_file(path);
	if (fd < 0)
		return fd;
	err = probes_note(p, fd, 0);
	if (err <= 0)
		return err;
	err = davy_elf_exports(davy_self_fd(fd, self), symbols, count, offsets);
	if (err <= 0)
		return err;
	for (size_t i = 0; i < count; i++)
		if (offsets[i]) {
			offsets[there] = offsets[i];
			rows[there++] = rows[i];
		}
	return davy_uprobes_put(p->uprobes, p->programs.call, self, offsets, rows, there);
}

int davy_probes_linker(struct davy_probes *p, const char *path)
{
	static const char *const symbols[] = { "_dl_signal_error", "_dl_exception_create",
					       "_dl_exception_create_format", "_dl_debug_state" };
	const int programs[] = { p->programs.signal_error, p->programs.exception,
				 p->programs.exception_format, p->programs.loaded };
	uint64_t offsets[4], none = 0;
	char self[DAVY_SELF_FD_SIZE];
	DAVY_FD fd = open_file(path);
	int put = 0, err;

	if (fd < 0)
		return fd;
	err = probes_note(p, fd, 0);
	if (err <= 0)
		return err;
	err = davy_elf_exports(davy_self_fd(fd, self), symbols, 4, offsets);
	for (size_t i = 0; err > 0 && i < 4; i++)
		if (offsets[i])
			put += davy_uprobes_put(p->uprobes, programs[i], self, &offsets[i], &none,
						1) == 1;
	return err < 0 ? err : put;
}

/* Programs need not wait for this linker any more. Uses the kernel's device number. */
static void note_seen(const struct davy_probes *p, const struct mapped_file *linker)
{
	struct davy_raw_file key = { .inode = linker->inode,
				     .device =
					     linker->major << DAVY_RAW_MINOR_BITS | linker->minor };
	uint8_t yes = 1;

	(void)bpf_map_update_elem(p->programs.seen_files, &key, &yes, BPF_ANY);
}

static bool is_linker(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
	       !strcmp(name, "ld.so");
}

/* "55d0..-55d1.. r-xp 00001000 fe:00 1234   /usr/bin/x" */
static bool parse_mapping(const char *line, struct mapping *ret_mapping)
{
	struct mapping *m = ret_mapping;
	char rights[5];

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &m->begin, &m->end, rights, &m->offset,
		   &m->file.major, &m->file.minor, &m->file.inode) != 7)
		return false;
	m->runs = rights[2] == 'x';
	m->path = strchr(line, '/');
	return m->path;
}

static bool probes_same_file(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static bool was_looked_at(const struct davy_probes *p, const struct mapped_file *file)
{
	for (size_t i = 0; i < p->looked_count; i++)
		if (probes_same_file(&p->looked[i], file))
			return true;
	return false;
}

static void look_at_mapping(struct davy_probes *p, uint32_t pid, const struct mapping *m,
			    bool program)
{
	char link[PATH_MAX], name[NAME_MAX + 1];
	const char *base = davy_step_base(m->path);
	int err;

	if (was_looked_at(p, &m->file) ||
	    davy_root_path(link, sizeof(link), "/proc/%u/map_files/%lx-%lx", pid, m->begin, m->end))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "\n"), base);
	if (is_linker(name)) {
		err = davy_probes_linker(p, link);
		note_seen(p, &m->file);
	} else {
		err = davy_probes_library(p, link, program ? NULL : name);
	}
	if (err >= 0 && p->looked_count < sizeof(p->looked) / sizeof(p->looked[0]))
		p->looked[p->looked_count++] = m->file;
}

void davy_probes_process(struct davy_probes *p, uint32_t pid)
{
	struct mapped_file program = { 0 }; /* the lowest mapped file, or a PIE just below */
	char path[PATH_MAX], *line = NULL;
	struct mapping m;
	size_t size = 0;
	DAVY_FILE file = NULL;

	if (davy_root_path(path, sizeof(path), "/proc/%u/maps", pid))
		return;
	file = fopen(path, "re");
	for (int i = 0; file && i < LINES_MAX && getline(&line, &size, file) > 0; i++) {
		if (!parse_mapping(line, &m))
			continue;
		if (!program.inode)
			program = m.file;
		if (m.runs)
			look_at_mapping(p, pid, &m, probes_same_file(&program, &m.file));
	}
	free(line);
}

/* In the file mapped from "begin" to "end", starting at file offset "offset". */
static int put_site(struct davy_probes *p, const struct davy_start_step *call, unsigned long begin,
		    unsigned long end, uint64_t offset)
{
	char link[PATH_MAX], self[DAVY_SELF_FD_SIZE];
	uint64_t none = 0;
	DAVY_FD fd = -1;
	int err;

	err = davy_root_path(link, sizeof(link), "/proc/%u/map_files/%lx-%lx", call->pid, begin,
			     end);
	if (err)
		return err;
	offset += call->address - begin;
	fd = open_file(link);
	if (fd < 0)
		return fd;
	err = probes_note(p, fd, offset);
	if (err <= 0)
		return err;
	return davy_uprobes_put(p->uprobes, p->programs.back, davy_self_fd(fd, self), &offset,
				&none, 1);
}

int davy_probes_site(struct davy_probes *p, const struct davy_start_step *call)
{
	char path[PATH_MAX], *line = NULL;
	struct mapping m;
	int err = -ENOENT; /* no file: generated code */
	size_t size = 0;
	DAVY_FILE file = NULL;

	if (call->vma_begin)
		return put_site(p, call, call->vma_begin, call->vma_end, call->vma_page * PAGE);
	if (davy_root_path(path, sizeof(path), "/proc/%u/maps", call->pid))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	for (int i = 0; file && i < LINES_MAX && getline(&line, &size, file) > 0; i++) {
		if (!parse_mapping(line, &m) || call->address < m.begin || call->address >= m.end)
			continue;
		err = put_site(p, call, m.begin, m.end, m.offset);
		break;
	}
	free(line);
	return err;
}
