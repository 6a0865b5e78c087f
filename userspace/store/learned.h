/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's own policy layer: which (device, backend, model) is open-circuit, since when, why.
 * One INI file in the state directory, replaced whole. Times in it are wall-clock seconds, because
 * it outlives a boot. Reading is as careful as if it were somebody else's: people edit files.
 */
#ifndef DL_STORE_LEARNED_H
#define DL_STORE_LEARNED_H

#include "core/event/event.h"

#define DL_LEARNED_MAX	64
#define DL_STATE_DIR	"/var/lib/davylamp"
#define DL_LEARNED_NAME "learned.conf"
#define DL_BECAUSE_LEN	320

struct dl_learned_entry {
	char device[DL_DEVICE_LEN];
	char model[DL_MODEL_LEN];
	enum dl_backend backend;
	enum dl_breaker_state state;
	uint16_t open_count;
	int64_t since_s;
	int64_t until_s; /* open: a probation start is allowed from then on */
	char because[DL_BECAUSE_LEN];
};

struct dl_learned {
	uint32_t version; /* counts every write */
	size_t count;
	struct dl_learned_entry entry[DL_LEARNED_MAX];
};

/*
 * 0, also when there is no file (empty then); -EBADMSG with the line in *ret_line when the file was
 * read whole and is not understood. Any other error says nothing about the content: the caller
 * keeps the file and what it has, and neither replaces the file nor puts it aside.
 */
int dl_learned_load(const char *dir, struct dl_learned *ret_learned, int *ret_line);

/* Puts a file that is not understood aside as learned.conf.bad, so that nothing of it is lost. */
int dl_learned_set_aside(const char *dir);

/* Writes it as version + 1; "learned" is updated on success. */
int dl_learned_save(const char *dir, struct dl_learned *learned);

/* The entry for exactly this key; made when absent, the longest closed goes when full. */
struct dl_learned_entry *dl_learned_get(struct dl_learned *learned, const char *device,
					enum dl_backend backend, const char *model);

/*
 * Removes the entries of a device, of a model, or of both at once ("": any); they are put into
 * "ret_gone" of DL_LEARNED_MAX places (NULL: not wanted). How many.
 */
size_t dl_learned_forget(struct dl_learned *learned, const char *device, const char *model,
			 struct dl_learned_entry *ret_gone);

/* The entry that stands against starting "model" on "backend" at "now_s", or NULL. */
const struct dl_learned_entry *dl_learned_against(const struct dl_learned *learned,
						  enum dl_backend backend, const char *model,
						  int64_t now_s);

#endif
