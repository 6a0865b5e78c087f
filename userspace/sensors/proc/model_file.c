/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/gguf.h"
#include "lib/file.h"
#include "lib/text.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/ollama_name.h"

#define KNOWN_MAX  16
#define DIGEST_LEN 64

/* Cached facts of an inode, or the error of reading it. */
struct known {
	uint64_t used; /* 0: empty */
	uint32_t dev_major, dev_minor;
	uint64_t ino, size;
	int64_t changed_s;
	uint32_t changed_ns;
	int err; /* 1: not read yet */
	struct davy_model_facts facts;
};

static int model_file_read_header(int path_fd, uint64_t size, struct davy_model_facts *f)
{
	struct davy_gguf g;
	DAVY_FD fd = davy_reopen(path_fd);
	int err;

	if (fd < 0)
		return fd;
	f->bytes = size;
	err = davy_gguf_read(fd, size, &g);
	if (err)
		return err;
	davy_text_safe(f->architecture, sizeof(f->architecture), g.architecture);
	davy_copy_name(f->quantisation, sizeof(f->quantisation),
		       davy_gguf_quantisation(g.file_type));
	f->layer_count = g.block_count;
	f->trained_context = g.context_length;
	return 0;
}

static struct known *model_file_find(const struct statx *st)
{
	static struct known table[KNOWN_MAX]; /* single-threaded */
	static uint64_t uses;
	struct known *victim = &table[0];

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		struct known *k = &table[i];

		if (k->used && k->ino == st->stx_ino && k->size == st->stx_size &&
		    k->dev_major == st->stx_dev_major && k->dev_minor == st->stx_dev_minor &&
		    k->changed_s == st->stx_ctime.tv_sec &&
		    k->changed_ns == st->stx_ctime.tv_nsec) {
			k->used = ++uses;
			return k;
		}
		if (k->used < victim->used)
			victim = k;
	}
	*victim = (struct known){ .dev_major = st->stx_dev_major,
				  .dev_minor = st->stx_dev_minor,
				  .ino = st->stx_ino,
				  .size = st->stx_size,
				  .changed_s = st->stx_ctime.tv_sec,
				  .changed_ns = st->stx_ctime.tv_nsec,
				  .err = 1 };
	victim->used = ++uses;
	return victim;
}

/*
 * ".../models/blobs/sha256-<64 digits>": the models directory is two levels above, unless it is
 * known. Not cached: names change, and another process may use another name for the inode.
 */
static void model_file_name_blob(const struct davy_model_where *w, struct davy_model_facts *f)
{
	const char *blob = w->path ? strstr(w->path, "/blobs/sha256-") : NULL;
	char dir[PATH_MAX];

	if (!blob || strlen(blob + 14) != DIGEST_LEN)
		return;
	snprintf(dir, sizeof(dir), "%.*s", (int)(blob - w->path), w->path);
	if (davy_ollama_name(w->pid, dir, blob + 14, f->name, sizeof(f->name)) && w->models_dir)
		davy_ollama_name(w->pid, w->models_dir, blob + 14, f->name, sizeof(f->name));
}

int davy_model_file_read(const struct davy_model_where *where, struct davy_model_facts *ret_facts)
{
	DAVY_FD fd = where->mapped[0] ? davy_open_mapped(where->pid, where->mapped) : -ENOENT;
	struct known *k;
	struct statx st;
	int err;

	if (fd < 0 && where->path)
		fd = davy_open_in_root(where->pid, where->path);
	if (fd < 0)
		return fd;
	err = davy_local_file(where->pid, fd);
	if (err)
		return err;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return -errno;
	k = model_file_find(&st);
	if (k->err == 1)
		k->err = model_file_read_header(fd, st.stx_size, &k->facts);
	*ret_facts = k->facts;
	model_file_name_blob(where, ret_facts);
	return k->err;
}
