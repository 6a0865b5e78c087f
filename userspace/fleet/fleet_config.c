/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/fleet_config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <systemd/sd-id128.h>

#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"
#include "store/config_value.h"

#define CREDENTIAL_MAX 65536
#define DAY_S	       86400

struct fleet_reader {
	struct davy_fleet_config *c;
	const char *path, *file[4]; /* ca, certificate, key, password */
	bool wrong;
	char what[DAVY_FLEET_ERROR - 200];
	char *error;
};

static const char *const file_keys[] = { "ca", "certificate", "key", "password_file" };

static int __attribute__((format(printf, 2, 3)))
fleet_config_wrong(struct fleet_reader *r, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(r->what, sizeof(r->what), format, list);
	va_end(list);
	r->wrong = true;
	return 0;
}

static void fleet_config_say(struct fleet_reader *r, int line)
{
	char raw[DAVY_FLEET_ERROR];

	snprintf(raw, sizeof(raw), "%.160s:%d: %s", r->path, line,
		 r->wrong ? r->what : "syntax error, expected 'KEY = VALUE'");
	davy_text_safe(r->error, DAVY_FLEET_ERROR, raw);
}

static char *fleet_config_keep(struct davy_fleet_config *c, const char *text)
{
	size_t size = strlen(text) + 1;
	char *at = c->text + c->used;

	if (size > sizeof(c->text) - c->used)
		return NULL;
	memcpy(at, text, size);
	c->used += size;
	return at;
}

static int fleet_config_endpoints(struct fleet_reader *r, const char *value)
{
	struct davy_etcd_access *a = &r->c->access;
	char *copy = fleet_config_keep(r->c, value), *save = NULL;

	a->endpoint_count = 0;
	for (char *at = copy ? strtok_r(copy, ", \t", &save) : NULL; at;
	     at = strtok_r(NULL, ", \t", &save)) {
		size_t len = strlen(at);

		if (strncmp(at, "https://", 8) != 0 && strncmp(at, "http://127.0.0.1:", 17) != 0)
			return fleet_config_wrong(r,
						  "endpoint '%.120s', expected https://HOST:PORT "
						  "(http:// only for 127.0.0.1)",
						  at);
		if (at[len - 1] == '/')
			at[len - 1] = 0;
		if (a->endpoint_count == DAVY_ETCD_ENDPOINTS)
			return fleet_config_wrong(r, "more than %d endpoints", DAVY_ETCD_ENDPOINTS);
		a->endpoint[a->endpoint_count++] = at;
	}
	return a->endpoint_count ? 1 : fleet_config_wrong(r, "no endpoint");
}

static int fleet_config_number(struct fleet_reader *r, const char *key, const char *value,
			       uint64_t least, uint64_t most, uint32_t *ret)
{
	uint64_t n;

	if (!davy_number(value, most, &n) || n < least)
		return fleet_config_wrong(r, "'%s = %.60s', expected a number from %llu to %llu",
					  key, value, (unsigned long long)least,
					  (unsigned long long)most);
	*ret = (uint32_t)n;
	return 1;
}

static int fleet_config_time(struct fleet_reader *r, const char *key, const char *value,
			     int64_t least_ms, uint32_t *ret, uint32_t unit_ms)
{
	int64_t ms;

	if (davy_config_value(DAVY_UNIT_MS, value, &ms) || ms < least_ms ||
	    ms > 365ll * DAY_S * 1000)
		return fleet_config_wrong(r, "'%s = %.60s', expected a time such as '30 s', '1 h'",
					  key, value);
	ms /= unit_ms;
	*ret = ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
	return 1;
}

static int fleet_config_host(struct fleet_reader *r, const char *value)
{
	if (!davy_fleet_host_valid(value))
		return fleet_config_wrong(r,
					  "'host = %.60s', expected at most %d letters, digits, "
					  "'-', '_' and '.'",
					  value, DAVY_FLEET_HOST_LEN - 1);
	davy_copy_name(r->c->host, sizeof(r->c->host), value);
	return 1;
}

static int fleet_config_prefix(struct fleet_reader *r, const char *value)
{
	size_t len = strlen(value);

	if (len < 2 || len > 100 || value[0] != '/' || value[len - 1] != '/')
		return fleet_config_wrong(r, "'prefix = %.60s', expected '/NAME/'", value);
	r->c->member.prefix = fleet_config_keep(r->c, value);
	return 1;
}

static int fleet_config_text(struct fleet_reader *r, const char *value, const char **ret)
{
	*ret = fleet_config_keep(r->c, value);
	return *ret ? 1 : fleet_config_wrong(r, "too long");
}

static int fleet_config_on_key(void *arg, const char *section, const char *key, const char *value)
{
	struct fleet_reader *r = arg;
	struct davy_member_config *m = &r->c->member;

	if (r->wrong)
		return 1;
	if (section[0])
		return fleet_config_wrong(r, "section [%.40s], expected none", section);
	for (size_t i = 0; i < 4; i++)
		if (!strcmp(key, file_keys[i]))
			return fleet_config_text(r, value, &r->file[i]);
	if (!strcmp(key, "endpoints"))
		return fleet_config_endpoints(r, value);
	if (!strcmp(key, "user"))
		return fleet_config_text(r, value, &r->c->access.user);
	if (!strcmp(key, "host"))
		return fleet_config_host(r, value);
	if (!strcmp(key, "salt"))
		return fleet_config_text(r, value, (const char **)&r->c->salt);
	if (!strcmp(key, "prefix"))
		return fleet_config_prefix(r, value);
	if (!strcmp(key, "quorum"))
		return fleet_config_number(r, key, value, 1, 1000000, &m->quorum);
	if (!strcmp(key, "share"))
		return fleet_config_number(r, key, value, 1, 100, &m->share);
	if (!strcmp(key, "trial"))
		return fleet_config_time(r, key, value, 0, &m->trial_ms, 1);
	if (!strcmp(key, "hold"))
		return fleet_config_time(r, key, value, 0, &m->hold_ms, 1);
	if (!strcmp(key, "lease"))
		return fleet_config_time(r, key, value, 60000, &m->lease_s, 1000);
	return fleet_config_wrong(
		r,
		"unknown key '%.60s', expected endpoints, ca, certificate, key, user, "
		"password_file, host, salt, prefix, quorum, share, trial, hold or lease",
		key);
}

/* A copy in memory that any user of this process can open again. */
static int fleet_config_credential(struct fleet_reader *r, size_t which, char *text, ssize_t size)
{
	int fd = memfd_create(file_keys[which], 0);

	if (fd < 0 || davy_write_all(fd, text, (size_t)size) || fchmod(fd, 0444))
		return -errno;
	snprintf(r->c->file[which], sizeof(r->c->file[which]), "/proc/self/fd/%d", fd);
	return 0;
}

static int fleet_config_file(struct fleet_reader *r, size_t which)
{
	char *text = malloc(CREDENTIAL_MAX), safe[256];
	ssize_t size = text ? davy_read_whole(r->file[which], text, CREDENTIAL_MAX) : -ENOMEM;
	int err = size < 0 ? (int)size : 0;

	if (!err && which < 3) {
		err = fleet_config_credential(r, which, text, size);
	} else if (!err) {
		text[strcspn(text, "\r\n")] = 0;
		if (strlen(text) >= sizeof(r->c->secret))
			err = -EFBIG;
		else
			memcpy(r->c->secret, text, strlen(text) + 1);
	}
	if (text)
		explicit_bzero(text, CREDENTIAL_MAX);
	free(text);
	if (err)
		snprintf(r->error, DAVY_FLEET_ERROR, "'%s' (%s): %s",
			 davy_text_safe(safe, sizeof(safe), r->file[which]), file_keys[which],
			 strerror(-err));
	return err;
}

/*
 * The machine's id, hashed with a key (sd_id128_get_machine_app_specific: HMAC-SHA256) that follows
 * from the salt: neither the id nor the host's name can be found from it.
 */
static int fleet_config_hash_host(struct davy_fleet_config *c)
{
	sd_id128_t key = SD_ID128_MAKE(8b, 41, 6e, 0c, 54, a5, 4d, 17, 9c, 36, 0f, d2, 21, 7a, e0,
				       5b),
		   id;
	size_t len = c->salt ? strlen(c->salt) : 0;
	char text[SD_ID128_STRING_MAX];
	int err;

	for (size_t i = 0; i < len; i++)
		key.bytes[i % sizeof(key.bytes)] =
			(uint8_t)(key.bytes[i % sizeof(key.bytes)] * 31 + c->salt[i]);
	err = sd_id128_get_machine_app_specific(key, &id);
	if (err < 0)
		return err;
	davy_copy_name(c->host, sizeof(c->host), sd_id128_to_string(id, text));
	return 0;
}

static int fleet_config_finish(struct fleet_reader *r)
{
	struct davy_fleet_config *c = r->c;
	struct davy_etcd_access *a = &c->access;
	int err = 0;

	if (!a->endpoint_count) {
		fleet_config_wrong(r, "no 'endpoints', expected 'endpoints = https://HOST:2379'");
		fleet_config_say(r, 1);
		return -EBADMSG;
	}
	for (size_t i = 0; i < 4 && !err; i++)
		if (r->file[i])
			err = fleet_config_file(r, i);
	if (!err && !c->host[0]) {
		err = fleet_config_hash_host(c);
		if (err)
			snprintf(r->error, DAVY_FLEET_ERROR,
				 "%s: no machine id (%s); set 'host = NAME'", r->path,
				 strerror(-err));
	}
	a->ca = r->file[0] ? c->file[0] : NULL;
	a->certificate = r->file[1] ? c->file[1] : NULL;
	a->key = r->file[2] ? c->file[2] : NULL;
	a->password = c->secret;
	c->member.host = c->host;
	return err;
}

int davy_fleet_config_read(const char *path, struct davy_fleet_config *ret_config,
			   char error[DAVY_FLEET_ERROR])
{
	struct fleet_reader r = { .c = ret_config, .path = path, .error = error };
	char *text = malloc(DAVY_FLEET_TEXT_MAX), safe[256];
	ssize_t size = text ? davy_read_whole(path, text, DAVY_FLEET_TEXT_MAX) : -ENOMEM;
	int err = size < 0 ? (int)size : 0, line;

	memset(ret_config, 0, sizeof(*ret_config));
	ret_config->member = (struct davy_member_config){ .prefix = "/davylamp/v1/",
							  .quorum = 3,
							  .share = 10,
							  .lease_s = 7 * DAY_S,
							  .trial_ms = 30000,
							  .hold_ms = 3600000,
							  .publish_s = 3600 };
	error[0] = 0;
	if (err) {
		snprintf(error, DAVY_FLEET_ERROR, "'%s': %s",
			 davy_text_safe(safe, sizeof(safe), path), strerror(-err));
	} else {
		line = ini_parse_string(text, fleet_config_on_key, &r);
		if (line > 0)
			fleet_config_say(&r, line);
		err = line < 0 ? -ENOMEM : line ? -EBADMSG : fleet_config_finish(&r);
	}
	free(text);
	return err;
}
