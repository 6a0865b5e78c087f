/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's own policy layer: which (device, backend, model) is open-circuit, since when, why.
 * One INI file in the state directory, replaced whole. Times in it are wall-clock seconds, because
 * it outlives a boot. Reading is as careful as if it were somebody else's: people edit files.
 */
#ifndef DAVY_LEARNED_H
#define DAVY_LEARNED_H

#include "core/event/event.h"

#define DAVY_LEARNED_MAX  64
#define DAVY_STATE_DIR	  "/var/lib/davylamp"
#define DAVY_LEARNED_NAME "learned.conf"
#define DAVY_BECAUSE_LEN  320

struct davy_learned_entry {
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	enum davy_backend backend;
	enum davy_breaker_state state;
	uint16_t open_count;
	int64_t since_s;
	int64_t until_s; /* open: a probation start is allowed from then on */
	char because[DAVY_BECAUSE_LEN];
};

struct davy_learned {
	uint32_t version; /* counts every write */
	size_t count;
	struct davy_learned_entry entry[DAVY_LEARNED_MAX];
};

/*
 * 0, also when there is no file (empty then); -EBADMSG with the line in *ret_line when the file was
 * read whole and is not understood. Any other error says nothing about the content: the caller
 * keeps the file and what it has, and neither replaces the file nor puts it aside.
 */
int davy_learned_load(const char *dir, struct davy_learned *ret_learned, int *ret_line);

/* Puts a file that is not understood aside as learned.conf.bad, so that nothing of it is lost. */
int davy_learned_set_aside(const char *dir);

/* Writes it as version + 1; "learned" is updated on success. */
int davy_learned_save(const char *dir, struct davy_learned *learned);

/* The entry for exactly this key; made when absent, the longest closed goes when full. */
struct davy_learned_entry *davy_learned_get(struct davy_learned *learned, const char *device,
					    enum davy_backend backend, const char *model);

/*
 * Removes the entries of a device, of a model, or of both at once ("": any); they are put into
 * "ret_gone" of DAVY_LEARNED_MAX places (NULL: not wanted). How many.
 */
size_t davy_learned_forget(struct davy_learned *learned, const char *device, const char *model,
			   struct davy_learned_entry *ret_gone);

/* The entry that stands against starting "model" on "backend" at "now_s", or NULL. */
const struct davy_learned_entry *davy_learned_against(const struct davy_learned *learned,
						      enum davy_backend backend, const char *model,
						      int64_t now_s);

#endif
