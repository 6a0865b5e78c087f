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

/* The file as it stands. */
struct layer {
	char path[PATH_MAX];
	char *text;
	size_t size;
	enum dl_generated state;
	uint32_t number; /* that its first line tells */
	const char *body;
};

static void free_at_end(char **text)
{
	free(*text);
}

#define TEXT __attribute__((cleanup(free_at_end))) char *

static int versions_lock(struct dl_db *db, struct dl_file_lock *lock)
{
	char path[PATH_MAX];
	int err = dl_root_path(path, sizeof(path), "%s/" DL_POLICY_NAME, db->dir);

	if (!err && db->read_only)
		err = -EROFS;
	return err ? err : dl_file_lock_take(lock, path, DL_LOCK_LOOP_MS);
}

static bool has_text(const struct layer *l, const char *text)
{
	return l->state != DL_GENERATED_ABSENT && l->size == strlen(text) &&
	       !memcmp(l->text, text, l->size);
}

/* Its text must be freed also on an error. */
static int read_layer(struct dl_db *db, struct layer *l)
{
	int err = dl_root_path(l->path, sizeof(l->path), "%s/%s", db->dir, DL_POLICY_NAME);
	ssize_t n;

	l->state = DL_GENERATED_ABSENT;
	l->text = calloc(1, DL_GENERATED_MAX + 1); /* so that a longer one is seen to be */
	if (err || !l->text)
		return err ? err : -ENOMEM;
	n = dl_read_file(l->path, l->text, DL_GENERATED_MAX + 1);
	if (n < 0)
		return n == -ENOENT ? 0 : (int)n;
	l->size = (size_t)n;
	l->state = dl_generated_judge(l->text, &l->number, &l->body);
	if (strlen(l->text) != l->size) /* with a NUL in it: no text of ours */
		l->state = DL_GENERATED_EDITED;
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
	return dl_replace_file(l->path, text, strlen(text), 0644);
}

static int next_number(struct dl_db *db, uint32_t *ret_number)
{
	int err = dl_version_row_last(db, ret_number);

	if (!err && *ret_number >= INT32_MAX)
		return -EOVERFLOW;
	++*ret_number;
	return err;
}

/* A file of ours that no version has. */
static int adopt(struct dl_db *db, const struct layer *l)
{
	struct dl_version_row row = { .text = l->text };
	int err = next_number(db, &row.version.number);

	if (err)
		return err;
	if (l->number > row.version.number && l->number < INT32_MAX)
		row.version.number = l->number;
	row.version.made_s = time(NULL);
	dl_copy_name(row.version.reason, sizeof(row.version.reason),
		     "found in the state directory; its history was lost");
	err = dl_version_row_add(db, &row);
	return err ? err : DL_VERSIONS_ADOPTED;
}

/* A pending row happened if its text is in the file. */
static int repair_pending(struct dl_db *db, const struct layer *l, int *repaired)
{
	struct dl_version_row row;
	int err;

	for (;;) {
		err = dl_version_row(db, 0, false, &row);
		if (err || !row.pending)
			break;
		if (has_text(l, row.text)) {
			err = dl_version_row_settle(db, row.version.number);
			*repaired = DL_VERSIONS_SETTLED;
		} else {
			err = dl_version_row_drop(db, row.version.number);
			*repaired = DL_VERSIONS_DROPPED;
		}
		free(row.text);
		if (err)
			return err;
	}
	if (!err)
		free(row.text);
	return err == -ENOENT ? 0 : err;
}

/* "newest" is NULL when there is no version. */
static int repair_file(struct dl_db *db, const struct layer *l, const char *newest)
{
	bool ours = l->state == DL_GENERATED_OURS, absent = l->state == DL_GENERATED_ABSENT;
	int err = 0;

	if (newest ? has_text(l, newest) : absent)
		return DL_VERSIONS_WHOLE;
	if (ours)
		return adopt(db, l);
	if (!absent)
		err = put_aside(l->path);
	if (!err && newest)
		err = write_layer(l, newest);
	if (err)
		return err;
	return absent ? DL_VERSIONS_RESTORED : DL_VERSIONS_ASIDE;
}

/* Under the lock. */
static int repair(struct dl_db *db)
{
	struct dl_version_row newest = { .text = NULL };
	struct layer l = { .text = NULL };
	int repaired = DL_VERSIONS_WHOLE;
	int err = read_layer(db, &l);

	if (!err)
		err = repair_pending(db, &l, &repaired);
	if (!err) {
		err = dl_version_row(db, 0, true, &newest);
		if (!err || err == -ENOENT)
			err = repair_file(db, &l, err ? NULL : newest.text);
	}
	free(newest.text);
	free(l.text);
	return err ? err : repaired;
}

static int locked_repair(struct dl_db *db, struct dl_file_lock *lock)
{
	int err = versions_lock(db, lock);

	if (err)
		return err;
	err = dl_db_sync(db, true);
	return err ? err : repair(db);
}

int dl_versions_repair(struct dl_db *db)
{
	DL_FILE_LOCK lock = { .fd = -1 };
	int err = locked_repair(db, &lock);

	dl_db_sync(db, false);
	return err;
}

/* After a failed write: the rename may have been done, and only the sync behind it failed. */
static bool happened(struct dl_db *db, const char *text)
{
	struct layer l = { .text = NULL };
	bool yes = !read_layer(db, &l) && has_text(&l, text);

	free(l.text);
	return yes;
}

/* Row, file, row; what fails at the last is settled by the next repair. */
static int make_it(struct dl_db *db, const struct layer *l, struct dl_version_row *row)
{
	int err;

	row->pending = true;
	row->version.made_s = time(NULL);
	err = dl_version_row_add(db, row);
	if (err)
		return err;
	err = write_layer(l, row->text);
	if (err && !happened(db, row->text)) {
		dl_version_row_drop(db, row->version.number);
		return err;
	}
	dl_version_row_settle(db, row->version.number);
	return (int)row->version.number;
}

/* Under the lock, repaired: "text" NULL: it is to be made of "body" and the next number. */
static int change(struct dl_db *db, struct dl_version_row *row, const char *text, const char *body)
{
	struct layer l = { .text = NULL };
	TEXT made = NULL;
	int err = read_layer(db, &l);

	if (!err)
		err = next_number(db, &row->version.number);
	if (!err && !text)
		err = dl_generated_text(row->version.number, body, &made);
	if (!err) {
		const char *now = l.state == DL_GENERATED_ABSENT ? "" : l.body;

		row->text = text ? (char *)text : made;
		if (text ? !has_text(&l, text) : strcmp(now, body) != 0)
			err = make_it(db, &l, row);
	}
	free(l.text);
	return err;
}

int dl_version_add(struct dl_db *db, const char *reason, const char *evidence, const char *body)
{
	struct dl_version_row row = { .text = NULL };
	char error[DL_LAYER_ERROR_LEN];
	DL_FILE_LOCK lock = { .fd = -1 };
	int err;

	if (dl_layer_lines_check("", body, strlen(body), error))
		return -EINVAL;
	dl_copy_name(row.version.reason, sizeof(row.version.reason), reason);
	dl_copy_name(row.version.evidence, sizeof(row.version.evidence), evidence);
	err = locked_repair(db, &lock);
	if (err >= 0)
		err = change(db, &row, NULL, body);
	dl_db_sync(db, false);
	return err;
}

int dl_version_rollback(struct dl_db *db, uint32_t number)
{
	struct dl_version_row old = { .text = NULL }, row = { .text = NULL };
	DL_FILE_LOCK lock = { .fd = -1 };
	int err = locked_repair(db, &lock);

	if (err >= 0 && number)
		err = dl_version_row(db, number, true, &old);
	if (err >= 0) {
		snprintf(row.version.reason, sizeof(row.version.reason), "rollback to version %u",
			 number);
		err = change(db, &row, old.text, "");
	}
	free(old.text);
	dl_db_sync(db, false);
	return err;
}

int dl_version_get(struct dl_db *db, uint32_t number, struct dl_version *ret_version,
		   char **ret_text)
{
	struct dl_version_row row = { .text = NULL };
	int err = number ? dl_version_row(db, number, true, &row) : -ENOENT;

	if (err)
		return err;
	*ret_version = row.version;
	if (ret_text)
		*ret_text = row.text;
	else
		free(row.text);
	return 0;
}

int dl_version_newest(struct dl_db *db)
{
	struct dl_version_row row = { .text = NULL };
	int err = dl_version_row(db, 0, true, &row);

	free(row.text);
	return err == -ENOENT ? 0 : err ? err : (int)row.version.number;
}

const char *dl_version_repair_text(int repair)
{
	static const char *const texts[] = {
		[DL_VERSIONS_WHOLE] = "nothing was to be repaired",
		[DL_VERSIONS_SETTLED] = "the last change was cut short after the file was written; "
					"it counts",
		[DL_VERSIONS_DROPPED] = "the last change was cut short before the file was "
					"written; it does not count",
		[DL_VERSIONS_RESTORED] = "the file was gone; written again from the newest version",
		[DL_VERSIONS_ADOPTED] = "the file is no known version; taken as the newest",
		[DL_VERSIONS_ASIDE] = "the file was changed by hand; put aside as " DL_POLICY_NAME
				      ".hand, the newest version stands",
	};

	return repair >= 0 && (size_t)repair < sizeof(texts) / sizeof(texts[0]) ? texts[repair]
										: "";
}
