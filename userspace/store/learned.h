/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's own policy layer: open breakers by device, backend and model, with time and reason.
 * One INI file in the state directory, replaced as a whole. Its times are wall-clock seconds,
 * because it outlives a boot. It is read like untrusted input, since operators edit files.
 */
#ifndef DAVY_LEARNED_H
#define DAVY_LEARNED_H

#include "core/event/event.h"

#define DAVY_LEARNED_MAX	64
#define DAVY_STATE_DIR		"/var/lib/davylamp"
#define DAVY_LEARNED_NAME	"learned.conf"
#define DAVY_LEARNED_REASON_LEN 320

struct davy_learned_entry {
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	enum davy_backend backend;
	enum davy_breaker_state state;
	uint16_t open_count;
	int64_t since_s;
	int64_t until_s; /* open: a probation start is allowed from this time on */
	char reason[DAVY_LEARNED_REASON_LEN];
};

struct davy_learned {
	uint32_t version; /* counts every write */
	size_t count;
	struct davy_learned_entry entry[DAVY_LEARNED_MAX];
};

/*
 * 0, also without a file (empty). -EBADMSG, with the line in *ret_line: the file was read
 * completely and is invalid. Other errors say nothing about the content: the caller keeps the file
 * and its own state, and neither replaces nor renames the file.
 */
int davy_learned_load(const char *dir, struct davy_learned *ret_learned, int *ret_line);

/* Renames an invalid file to learned.conf.bad, so that its content is kept. */
int davy_learned_set_aside(const char *dir);

/* Writes it as version + 1; "learned" is updated on success. */
int davy_learned_save(const char *dir, struct davy_learned *learned);

/*
 * The entry for exactly this key; created if missing. A full table drops the entry closed longest
 * ago.
 */
struct davy_learned_entry *davy_learned_get(struct davy_learned *learned, const char *device,
					    enum davy_backend backend, const char *model);

/*
 * Removes the entries of a device, of a model, or of both ("": any), and copies them to "ret_gone"
 * with DAVY_LEARNED_MAX entries (may be NULL). Returns their number.
 */
size_t davy_learned_forget(struct davy_learned *learned, const char *device, const char *model,
			   struct davy_learned_entry *ret_gone);

/* The entry that forbids to start "model" on "backend" at "now_s", or NULL. */
const struct davy_learned_entry *davy_learned_against(const struct davy_learned *learned,
						      enum davy_backend backend, const char *model,
						      int64_t now_s);

#endif
