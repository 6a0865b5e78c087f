/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places for probes in an engine's libraries. Results are cached by inode. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "sensors/proc/elf_site.h"
#include "sensors/proc/container_path.h"
#include "reader/reader_look.h"

#define KNOWN_MAX   16
#define RETURNS_MAX 4

/*
 * The end of a graph comes first: without it a begin would never be closed. One site of llama.cpp's
 * library is enough; of the others all are needed.
 */
static const struct site_row {
	enum davy_library library;
	enum davy_site site;
	const char *symbol;
	bool keeps_arguments; /* the BPF program reads the call's arguments */
} rows[] = {
	{ DAVY_LIBRARY_CXX, DAVY_SITE_THROW, "__cxa_throw", true },
	{ DAVY_LIBRARY_GGML, DAVY_SITE_SYNCHRONIZE, "ggml_backend_sched_synchronize", false },
	{ DAVY_LIBRARY_GGML, DAVY_SITE_COMPUTE, "ggml_backend_sched_graph_compute_async", false },
	{ DAVY_LIBRARY_GGML, DAVY_SITE_SET, "ggml_backend_tensor_set", false },
	{ DAVY_LIBRARY_GGML, DAVY_SITE_GET, "ggml_backend_tensor_get", false },
	{ DAVY_LIBRARY_LLAMA, DAVY_SITE_UBATCH,
	  "_ZN13llama_context14process_ubatchERK12llama_ubatch14llm_graph_type"
	  "P22llama_memory_context_iR11ggml_status",
	  true },
	{ DAVY_LIBRARY_LLAMA, DAVY_SITE_DECODE, "llama_decode", true },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

struct known_library {
	uint64_t used; /* 0: empty */
	struct statx st;
	enum davy_library library;
	size_t count;
	struct davy_look_site site[ROW_COUNT + RETURNS_MAX];
};

static bool library_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor && a->stx_size == b->stx_size &&
	       a->stx_ctime.tv_sec == b->stx_ctime.tv_sec &&
	       a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec;
}

/* Optional: without the results of graphs, only exceptions show that they fail. */
static void library_find_returns(const char *path, struct known_library *k)
{
	uint64_t offsets[RETURNS_MAX];
	int count = davy_elf_returns(path, "ggml_backend_sched_graph_compute_async", RETURNS_MAX,
				     offsets);

	for (int i = 0; i < count; i++)
		k->site[k->count++] =
			(struct davy_look_site){ .offset = offsets[i], .site = DAVY_SITE_RESULT };
}

static void library_find_sites(int fd, struct known_library *k)
{
	char self[DAVY_SELF_FD_SIZE];

	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct davy_look_site *s = &k->site[k->count];

		if (rows[i].library != k->library)
			continue;
		if (!davy_elf_site(davy_self_fd(fd, self), rows[i].symbol, rows[i].keeps_arguments,
				   &s->offset)) {
			s->site = rows[i].site;
			k->count++;
			if (k->library == DAVY_LIBRARY_LLAMA)
				return;
		} else if (k->library == DAVY_LIBRARY_GGML) {
			return;
		}
	}
	if (k->library == DAVY_LIBRARY_GGML)
		library_find_returns(davy_self_fd(fd, self), k);
}

static const struct known_library *library_known(int fd, enum davy_library library,
						 const struct statx *st)
{
	static struct known_library table[KNOWN_MAX]; /* one thread */
	static uint64_t uses;
	struct known_library *victim = &table[0];

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		struct known_library *k = &table[i];

		if (k->used && k->library == library && library_same(&k->st, st)) {
			k->used = ++uses;
			return k;
		}
		if (k->used < victim->used)
			victim = k;
	}
	*victim = (struct known_library){ .used = ++uses, .st = *st, .library = library };
	library_find_sites(fd, victim);
	return victim;
}

void davy_library_sites(uint32_t pid, enum davy_library library, const char *path,
			struct davy_look_reply *r, int files[DAVY_LOOK_FILES])
{
	const struct known_library *k;
	struct statx st;
	int fd = path[0] ? davy_open_mapped(pid, path) : -ENOENT;

	if (fd < 0)
		return;
	if (davy_local_file(pid, fd) ||
	    statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st)) {
		close(fd);
		return;
	}
	k = library_known(fd, library, &st);
	if (!k->count || r->site_count + k->count > DAVY_LOOK_SITES) {
		close(fd);
		return;
	}
	for (size_t i = 0; i < k->count; i++) {
		r->site[r->site_count] = k->site[i];
		r->site[r->site_count++].file = r->file_count;
	}
	files[r->file_count++] = fd;
}
