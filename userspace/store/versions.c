/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/versions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/event/types.h"
#include "lib/file.h"
#include "lib/file_lock.h"
#include "store/layer_text.h"
#include "store/policy_file.h"
#include "store/version_rows.h"

/* The current file. */
struct layer {
	char path[PATH_MAX];
	char *text;
	size_t size;
	enum davy_generated state;
	uint32_t number; /* from its first line */
	const char *body;
};

static void free_at_end(char **text)
{
	free(*text);
}

#define TEXT __attribute__((cleanup(free_at_end))) char *

static int versions_lock(struct davy_db *db, struct davy_file_lock *lock)
{
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "%s/" DAVY_POLICY_NAME, db->dir);

	if (!err && db->read_only)
		err = -EROFS;
	return err ? err : davy_file_lock_take(lock, path, DAVY_LOCK_LOOP_MS);
}

static bool has_text(const struct layer *l, const char *text)
{
	return l->state != DAVY_GENERATED_ABSENT && l->size == strlen(text) &&
	       !memcmp(l->text, text, l->size);
}

/* Its text must also be freed after an error. */
static int versions_read_layer(struct davy_db *db, struct layer *l)
{
	int err = davy_root_path(l->path, sizeof(l->path), "%s/%s", db->dir, DAVY_POLICY_NAME);
	ssize_t n;

	l->state = DAVY_GENERATED_ABSENT;
	l->text = calloc(1, DAVY_GENERATED_MAX + 1); /* one byte more, to detect a longer text */
	if (err || !l->text)
		return err ? err : -ENOMEM;
	n = davy_read_file(l->path, l->text, DAVY_GENERATED_MAX + 1);
	if (n < 0)
		return n == -ENOENT ? 0 : (int)n;
	l->size = (size_t)n;
	l->state = davy_generated_judge(l->text, &l->number, &l->body);
	if (strlen(l->text) != l->size) /* a text with a NUL is not davylamp's */
		l->state = DAVY_GENERATED_EDITED;
	return 0;
}

static int put_aside(const char *path)
{
	char aside[PATH_MAX];

	if (snprintf(aside, sizeof(aside), "%s.hand", path) >= (int)sizeof(aside))
		return -ENAMETOOLONG;
	return rename(path, aside) ? -errno : 0;
}

static int write_layer(const struct layer *l, const char *text)
{
	return davy_replace_file(l->path, text, strlen(text), 0644);
}

static int next_number(struct davy_db *db, uint32_t *ret_number)
{
	int err = davy_version_row_last(db, ret_number);

	if (!err && *ret_number >= INT32_MAX)
		return -EOVERFLOW;
	++*ret_number;
	return err;
}

/* Adopts a generated file that no version has. */
static int adopt(struct davy_db *db, const struct layer *l)
{
	struct davy_version_row row = { .text = l->text };
	int err = next_number(db, &row.version.number);

	if (err)
		return err;
	if (l->number > row.version.number && l->number < INT32_MAX)
		row.version.number = l->number;
	row.version.made_s = time(NULL);
	davy_copy_name(row.version.reason, sizeof(row.version.reason),
		       "found in the state directory; its history was lost");
	err = davy_version_row_add(db, &row);
	return err ? err : DAVY_VERSIONS_ADOPTED;
}

/* A pending row is settled if its text is in the file. */
static int repair_pending(struct davy_db *db, const struct layer *l, int *repaired)
{
	struct davy_version_row row;
	int err;

	for (;;) {
		err = davy_version_row(db, 0, false, &row);
		if (err || !row.pending)
			break;
		if (has_text(l, row.text)) {
			err = davy_version_row_settle(db, row.version.number);
			*repaired = DAVY_VERSIONS_SETTLED;
		} else {
			err = davy_version_row_drop(db, row.version.number);
			*repaired = DAVY_VERSIONS_DROPPED;
		}
		free(row.text);
		if (err)
			return err;
	}
	if (!err)
		free(row.text);
	return err == -ENOENT ? 0 : err;
}

/* "newest" is NULL if there is no version. */
static int repair_file(struct davy_db *db, const struct layer *l, const char *newest)
{
	bool ours = l->state == DAVY_GENERATED_OURS, absent = l->state == DAVY_GENERATED_ABSENT;
	int err = 0;

	if (newest ? has_text(l, newest) : absent)
		return DAVY_VERSIONS_WHOLE;
	if (ours)
		return adopt(db, l);
	if (!absent)
		err = put_aside(l->path);
	if (!err && newest)
		err = write_layer(l, newest);
	if (err)
		return err;
	return absent ? DAVY_VERSIONS_RESTORED : DAVY_VERSIONS_ASIDE;
}

/* The lock must be held. */
static int repair(struct davy_db *db)
{
	struct davy_version_row newest = { .text = NULL };
	struct layer l = { .text = NULL };
	int repaired = DAVY_VERSIONS_WHOLE;
	int err = versions_read_layer(db, &l);

	if (!err)
		err = repair_pending(db, &l, &repaired);
	if (!err) {
		err = davy_version_row(db, 0, true, &newest);
		if (!err || err == -ENOENT)
			err = repair_file(db, &l, err ? NULL : newest.text);
	}
	free(newest.text);
	free(l.text);
	return err ? err : repaired;
}

static int locked_repair(struct davy_db *db, struct davy_file_lock *lock)
{
	int err = versions_lock(db, lock);

	if (err)
		return err;
	err = davy_db_sync(db, true);
	return err ? err : repair(db);
}

int davy_versions_repair(struct davy_db *db)
{
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int err = locked_repair(db, &lock);

	davy_db_sync(db, false);
	return err;
}

/* After a failed write: the rename may have happened, and only its sync failed. */
static bool happened(struct davy_db *db, const char *text)
{
	struct layer l = { .text = NULL };
	bool yes = !versions_read_layer(db, &l) && has_text(&l, text);

	free(l.text);
	return yes;
}

/* Row, file, row; if the last step fails, the next repair settles the row. */
static int make_it(struct davy_db *db, const struct layer *l, struct davy_version_row *row)
{
	int err;

	row->pending = true;
	row->version.made_s = time(NULL);
	err = davy_version_row_add(db, row);
	if (err)
		return err;
	err = write_layer(l, row->text);
	if (err && !happened(db, row->text)) {
		davy_version_row_drop(db, row->version.number);
		return err;
	}
	davy_version_row_settle(db, row->version.number);
	return (int)row->version.number;
}

/* The lock must be held, after a repair. "text" NULL: it is made of "body" and the next number. */
static int versions_change(struct davy_db *db, struct davy_version_row *row, const char *text,
			   const char *body)
{
	struct layer l = { .text = NULL };
	TEXT made = NULL;
	int err = versions_read_layer(db, &l);

	if (!err)
		err = next_number(db, &row->version.number);
	if (!err && !text)
		err = davy_generated_text(row->version.number, body, &made);
	if (!err) {
		const char *now = l.state == DAVY_GENERATED_ABSENT ? "" : l.body;

		row->text = text ? (char *)text : made;
		if (text ? !has_text(&l, text) : strcmp(now, body) != 0)
			err = make_it(db, &l, row);
	}
	free(l.text);
	return err;
}

int davy_version_add(struct davy_db *db, const char *reason, const char *evidence, const char *body)
{
	struct davy_version_row row = { .text = NULL };
	char error[DAVY_LAYER_ERROR_LEN];
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int err;

	if (davy_layer_lines_check("", body, strlen(body), error))
		return -EINVAL;
	davy_copy_name(row.version.reason, sizeof(row.version.reason), reason);
	davy_copy_name(row.version.evidence, sizeof(row.version.evidence), evidence);
	err = locked_repair(db, &lock);
	if (err >= 0)
		err = versions_change(db, &row, NULL, body);
	davy_db_sync(db, false);
	return err;
}

int davy_version_rollback(struct davy_db *db, uint32_t number)
{
	struct davy_version_row old = { .text = NULL }, row = { .text = NULL };
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int err = locked_repair(db, &lock);

	if (err >= 0 && number)
		err = davy_version_row(db, number, true, &old);
	if (err >= 0) {
		snprintf(row.version.reason, sizeof(row.version.reason), "rollback to version %u",
			 number);
		err = versions_change(db, &row, old.text, "");
	}
	free(old.text);
	davy_db_sync(db, false);
	return err;
}

int davy_version_get(struct davy_db *db, uint32_t number, struct davy_version *ret_version,
		     char **ret_text)
{
	struct davy_version_row row = { .text = NULL };
	int err = number ? davy_version_row(db, number, true, &row) : -ENOENT;

	if (err)
		return err;
	*ret_version = row.version;
	if (ret_text)
		*ret_text = row.text;
	else
		free(row.text);
	return 0;
}

int davy_version_newest(struct davy_db *db)
{
	struct davy_version_row row = { .text = NULL };
	int err = davy_version_row(db, 0, true, &row);

	free(row.text);
	return err == -ENOENT ? 0 : err ? err : (int)row.version.number;
}

const char *davy_version_repair_text(int repair)
{
	static const char *const texts[] = {
		[DAVY_VERSIONS_WHOLE] = "no repair was needed",
		[DAVY_VERSIONS_SETTLED] =
			"the last change was interrupted after the file was written; "
			"it is in force",
		[DAVY_VERSIONS_DROPPED] = "the last change was interrupted before the file was "
					  "written; it was discarded",
		[DAVY_VERSIONS_RESTORED] =
			"the file was missing; written again from the newest version",
		[DAVY_VERSIONS_ADOPTED] =
			"the file is not a known version; it is now the newest version",
		[DAVY_VERSIONS_ASIDE] = "the file was changed by hand; renamed to " DAVY_POLICY_NAME
					".hand, and replaced by the newest version",
	};

	return repair >= 0 && (size_t)repair < sizeof(texts) / sizeof(texts[0]) ? texts[repair]
										: "";
}
