/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/samples.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

static const char insert[] = "INSERT INTO sample (key, result, at_s, value, device, driver, model) "
			     "VALUES (?, ?, ?, ?, ?, ?, ?)";

static const char select_rows[] =
	"SELECT result, at_s, value, device, driver FROM sample WHERE key = ?1 AND model = ?2 "
	"AND (?2 <> '' OR device = ?3) ORDER BY id LIMIT ?4";

static void bind_name(sqlite3_stmt *s, int at, const char *name)
{
	sqlite3_bind_text(s, at, name, -1, SQLITE_TRANSIENT);
}

int davy_sample_add(struct davy_db *db, const struct davy_sample *sample)
{
	sqlite3_stmt *s;
	int err = davy_db_begin(db);

	if (err)
		return err;
	err = davy_db_prepare(db, insert, &s);
	if (err)
		return davy_db_end(db, err);
	bind_name(s, 1, davy_config_rows[sample->key].name);
	sqlite3_bind_int(s, 2, sample->result);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)sample->at_s);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)sample->value);
	bind_name(s, 5, sample->device);
	bind_name(s, 6, sample->driver);
	bind_name(s, 7, sample->model);
	err = davy_db_change(db, s);
	return davy_db_end(db, err < 0 ? err : 0);
}

static bool samples_take(sqlite3_stmt *s, const struct davy_sample *like,
			 struct davy_sample *ret_sample)
{
	int64_t at_s, value;
	uint32_t result;

	*ret_sample = *like;
	if (!davy_db_take_number(s, 0, &result) || result >= DAVY_SAMPLE_RESULT_COUNT ||
	    !davy_db_take_time(s, 1, &at_s) || !davy_db_take_time(s, 2, &value) ||
	    !davy_db_take_text(s, 3, ret_sample->device, sizeof(ret_sample->device)) ||
	    !davy_db_take_text(s, 4, ret_sample->driver, sizeof(ret_sample->driver)))
		return false;
	ret_sample->result = (uint8_t)result;
	ret_sample->at_s = (uint64_t)at_s;
	ret_sample->value = (uint64_t)value;
	return true;
}

int davy_samples_load(struct davy_db *db, const struct davy_sample *like,
		      struct davy_sample *ret_samples)
{
	sqlite3_stmt *s;
	int code = SQLITE_DONE, count = 0;
	int err = davy_db_prepare(db, select_rows, &s);

	if (err)
		return err;
	bind_name(s, 1, davy_config_rows[like->key].name);
	bind_name(s, 2, like->model);
	bind_name(s, 3, like->device);
	sqlite3_bind_int(s, 4, DAVY_SAMPLES_KEPT);
	while (!err && (code = sqlite3_step(s)) == SQLITE_ROW)
		err = samples_take(s, like, &ret_samples[count++]) ? 0 : -EBADMSG;
	if (!err)
		err = davy_db_error(db, code);
	sqlite3_finalize(s);
	return err ? err : count;
}
