/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 'davylamp policy pin' and 'unpin': appends a rule to the administrator's file, with precedence
 * over the agent's rules. The administrator's own text is unchanged, byte for byte.
 */
#include "verb/policy_pin.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/file_lock.h"
#include "store/policy_file.h"
#include "verb/verb.h"

#define PREFIX "pinned-"

struct rules {
	char path[PATH_MAX];
	char text[DAVY_POLICY_FILE_MAX];
	struct davy_policy_layer layer;
};

static int policy_pin_say(const char *path, int err)
{
	if (err == -EFBIG)
		davy_log("'%s': longer than %zu bytes; nothing is changed. Remove or join rules in "
			 "it",
			 path, (size_t)DAVY_POLICY_FILE_MAX - 1);
	else if (err == -EBUSY)
		davy_log("'%s': locked by another davylamp command for more than %d s; nothing "
			 "is changed. Try again",
			 path, DAVY_LOCK_COMMAND_MS / 1000);
	else
		davy_log("'%s': %s; nothing is changed", path, strerror(-err));
	return err == -EACCES || err == -EPERM ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

/* Exit status. The lock is held until the file is written: no rule of another command is lost. */
static int pin_lock(const char *config_dir, struct rules *r, struct davy_file_lock *lock)
{
	int n = snprintf(r->path, sizeof(r->path), "%s/" DAVY_POLICY_NAME, config_dir);
	int err = n < PATH_MAX ? 0 : -ENAMETOOLONG;

	if (!err)
		err = davy_file_lock_take(lock, r->path, DAVY_LOCK_COMMAND_MS);
	return err ? policy_pin_say(r->path, err) : DAVY_EXIT_DONE;
}

/* Exit status. A missing file has no rules; a file with errors is not changed. */
static int policy_pin_read_rules(struct rules *r)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	ssize_t n = davy_read_whole(r->path, r->text, sizeof(r->text));

	if (n == -ENOENT) {
		r->text[0] = 0;
		n = 0;
	}
	if (n < 0)
		return policy_pin_say(r->path, (int)n);
	davy_policy_layer_init(&r->layer, DAVY_LAYER_ADMIN);
	if (!davy_policy_text_read(r->text, (size_t)n, r->path, DAVY_LAYER_ADMIN, &r->layer, error))
		return DAVY_EXIT_DONE;
	davy_log("%s; nothing is changed. Correct the file first", error);
	return DAVY_EXIT_FAILED;
}

/* Writes the text only if it is valid. */
static int write_rules(struct rules *r, const char *text, size_t size)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	int err;

	if (size >= DAVY_POLICY_FILE_MAX)
		return policy_pin_say(r->path, -EFBIG);
	err = davy_policy_text_read(text, size, r->path, DAVY_LAYER_ADMIN, &r->layer, error);

	if (err) {
		davy_log("%s", err == -EBADMSG ? error : strerror(-err));
		return DAVY_EXIT_USAGE;
	}
	err = davy_replace_file(r->path, text, size, 0644);
	return err ? policy_pin_say(r->path, err) : DAVY_EXIT_DONE;
}

static void new_name(struct davy_policy_layer *layer, char name[DAVY_RULE_NAME_LEN])
{
	unsigned int number = 1;

	do
		snprintf(name, DAVY_RULE_NAME_LEN, PREFIX "%u", number++);
	while (davy_policy_rule_find(layer, name));
}

static bool is_condition(const char *word)
{
	size_t len = strcspn(word, "=");

	for (uint32_t i = 0; i < DAVY_IF_COUNT; i++)
		if (!strncmp(word, davy_condition_name(i), len) && !davy_condition_name(i)[len])
			return true;
	return false;
}

/* "ubatch=256" is a value, "backend=vulkan" a condition; false: no '=', or a newline. */
static bool policy_pin_put_word(FILE *out, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value || value == word || strpbrk(word, "\r\n"))
		return false;
	fprintf(out, "%s%.*s = %s\n", is_condition(word) ? "if " : "", (int)(value - word), word,
		value + 1);
	return true;
}

static void put_condition(FILE *out, const char *name, const char *text)
{
	char literal[2 * DAVY_MODEL_LEN];

	if (!text)
		return;
	davy_rule_literal(literal, sizeof(literal), text);
	fprintf(out, "if %s = %s\n", name, literal);
}

static void put_end(FILE *out, const char *reason)
{
	const time_t now = time(NULL);
	char date[16] = "";
	struct tm day;

	if (gmtime_r(&now, &day))
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
	fprintf(out, "pin = yes\nbecause = %s\ndate = %s\n",
		reason ? reason : "pinned by 'davylamp policy pin'", date);
}

static int policy_pin_tell(const struct rules *r, const char *verb, const char *name, bool json)
{
	json_t *o;

	if (!json) {
		printf("%s: rule %s in %s; it applies to engines started from now on\n", verb, name,
		       r->path);
		return DAVY_EXIT_DONE;
	}
	o = json_pack("{s:s, s:s, s:s}", "op", verb, "rule", name, "file", r->path);
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
	return DAVY_EXIT_DONE;
}

/* Whether the file has the same rule, apart from name and date. */
static bool policy_pin_is_there(const char *rules, const char *body)
{
	const char *end = strstr(body, "\ndate = ");
	char *copy = strndup(body, end ? (size_t)(end - body) : strlen(body));
	bool there = copy && *copy && strstr(rules, copy);

	free(copy);
	return there;
}

static int pin(const struct davy_pin *p, struct rules *r)
{
	char name[DAVY_RULE_NAME_LEN], *text = NULL;
	size_t size, old = strlen(r->text);
	FILE *out = open_memstream(&text, &size);
	bool good = true;
	int status;

	if (!out)
		return policy_pin_say(r->path, -ENOMEM);
	new_name(&r->layer, name);
	fprintf(out, "%s%s%s[rule %s]\n", r->text, old && r->text[old - 1] != '\n' ? "\n" : "",
		old ? "\n" : "", name);
	put_condition(out, "model", p->model);
	put_condition(out, "device", p->device);
	for (size_t i = 0; i < p->count; i++)
		good &= policy_pin_put_word(out, p->words[i]);
	put_end(out, p->reason);
	if (fclose(out)) {
		status = policy_pin_say(r->path, -ENOMEM);
	} else if (!good) {
		davy_log("expected KEY=VALUE: 'davylamp policy pin --model NAME ubatch=256', "
			 "'backends=cpu'; see davylamp-backend.conf(5)");
		status = DAVY_EXIT_USAGE;
	} else if (p->once && policy_pin_is_there(r->text, strstr(text + old, "]\n") + 1)) {
		davy_log("'%s' already has this rule", r->path);
		status = DAVY_EXIT_NOTHING;
	} else {
		status = write_rules(r, text, size);
	}
	free(text);
	return status ? status : policy_pin_tell(r, "pinned", name, p->json);
}

int davy_policy_pin(const struct davy_pin *p)
{
	struct rules *r = malloc(sizeof(*r));
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int err, status = DAVY_EXIT_FAILED;

	if (!p->count) {
		davy_log("expected KEY=VALUE: 'davylamp policy pin --model NAME ubatch=256', "
			 "'backends=cpu'; see davylamp-backend.conf(5)");
		status = DAVY_EXIT_USAGE;
	} else if (r) {
		err = davy_make_dirs(p->config_dir);
		status = err ? policy_pin_say(p->config_dir, err)
			     : pin_lock(p->config_dir, r, &lock);
		if (!status)
			status = policy_pin_read_rules(r);
		if (!status)
			status = pin(p, r);
	}
	free(r);
	return status;
}

/* Finds the section from its first line to the next section. NULL: none. */
static char *find_section(char *text, const char *name, char **ret_end)
{
	char head[DAVY_RULE_NAME_LEN + 16], *at = text;

	snprintf(head, sizeof(head), "[rule %s]", name);
	while (at && strncmp(at, head, strlen(head)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	*ret_end = at ? strstr(at, "\n[") : NULL;
	*ret_end = *ret_end ? *ret_end + 1 : at ? at + strlen(at) : NULL;
	return at;
}

static int policy_pin_unpin(const struct davy_pin *p, struct rules *r)
{
	const char *name = p->words[0];
	char *from, *end;
	int status = policy_pin_read_rules(r);

	if (status)
		return status;
	from = strncmp(name, PREFIX, strlen(PREFIX)) ? NULL : find_section(r->text, name, &end);
	if (!from) {
		davy_log("'%s' is not a rule of 'policy pin' in '%s'; edit other rules in the file "
			 "yourself",
			 name, r->path);
		return DAVY_EXIT_NOTHING;
	}
	if (!*end && from > r->text + 1 && from[-1] == '\n' && from[-2] == '\n')
		from--; /* the blank line before it */
	memmove(from, end, strlen(end) + 1);
	status = write_rules(r, r->text, strlen(r->text));
	return status ? status : policy_pin_tell(r, "unpinned", name, p->json);
}

int davy_policy_unpin(const struct davy_pin *p)
{
	struct rules *r = malloc(sizeof(*r));
	DAVY_FILE_LOCK lock = { .fd = -1 };
	int status = r ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;

	if (r && !access(p->config_dir, F_OK)) /* without the folder there is no rule and no lock */
		status = pin_lock(p->config_dir, r, &lock);
	else if (r)
		snprintf(r->path, sizeof(r->path), "%s/" DAVY_POLICY_NAME, p->config_dir);
	if (!status)
		status = policy_pin_unpin(p, r);
	free(r);
	return status;
}
