/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy rollback', 'import' and 'forget': by the agent, or in the state directory. */
#include "policy_cli/policy_history.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/file_lock.h"
#include "lib/message.h"
#include "lib/text.h"
#include "store/layer_change.h"
#include "store/layer_text.h"
#include "store/learned.h"
#include "verb/client.h"
#include "verb/verb.h"

#define NO_AGENT (-1)

/* Result of a change. */
struct outcome {
	int result; /* of layer_change.h */
	int learned;
	int rules; /* rules deleted from the layer */
	char why[DAVY_LAYER_WHY];
};

static int status_of(const struct outcome *out)
{
	if (out->result >= 0)
		return out->result || out->learned || out->rules ? DAVY_EXIT_DONE
								 : DAVY_EXIT_NOTHING;
	return out->result == -EACCES || out->result == -EPERM ? DAVY_EXIT_NOT_PERMITTED
							       : DAVY_EXIT_FAILED;
}

/* Takes the reference of "question". Exit status, or NO_AGENT. */
static int policy_change_ask(const struct davy_history_options *o, json_t *question,
			     struct outcome *out)
{
	char state[PATH_MAX];
	json_t *answer = NULL;
	int status = davy_client_find(o->socket_path);

	if (status) {
		json_decref(question);
		return status == DAVY_EXIT_NOTHING ? NO_AGENT : status;
	}
	if (o->state_given && realpath(o->state_dir, state))
		json_object_set_new(question, "state", json_string(state));
	status = davy_client_ask(o->socket_path, question, &answer);
	if (status)
		return status;
	out->result = (int)davy_message_number(answer, "result", -EIO);
	out->learned = (int)davy_message_number(answer, "learned", 0);
	out->rules = (int)davy_message_number(answer, "rules", 0);
	snprintf(out->why, sizeof(out->why), "%s", davy_message_text(answer, "why"));
	json_decref(answer);
	return DAVY_EXIT_DONE;
}

/* Reports a change of the layer: the current version, or the error. */
static int tell_version(const struct davy_history_options *o, const struct outcome *out)
{
	json_t *reported;

	if (out->result < 0) {
		davy_log("%s", out->why);
	} else if (o->json) {
		reported =
			json_pack("{s:b, s:i}", "changed", out->result > 0, "version", out->result);
		if (!out->result)
			json_object_del(reported, "version");
		json_dumpf(reported, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(reported);
	} else if (out->result) {
		printf("version %d is current\n", out->result);
	} else {
		printf("nothing to change\n");
	}
	return status_of(out);
}

static int policy_change_rollback(const char *number_text, const struct davy_history_options *o)
{
	struct outcome out = { .result = 0 };
	unsigned int number;
	int status;

	if (!davy_policy_number(number_text, &number))
		return DAVY_EXIT_USAGE;
	status = policy_change_ask(
		o, json_pack("{s:s, s:I}", "op", "policy_rollback", "version", (json_int_t)number),
		&out);
	if (status > 0)
		return status;
	if (status == NO_AGENT)
		out.result = davy_layer_rollback(o->state_dir, number, out.why);
	return tell_version(o, &out);
}

/* Reads one byte more than allowed, to detect a longer file. */
static ssize_t read_import(const char *path, char *text)
{
	ssize_t n = strcmp(path, "-") ? davy_read_file(path, text, DAVY_GENERATED_MAX + 1)
				      : davy_read_fd(STDIN_FILENO, text, DAVY_GENERATED_MAX + 1);

	if (n < 0)
		davy_log("'%s': %s", path, strerror((int)-n));
	return n;
}

static json_t *import_question(const char *name, const char *text)
{
	json_t *question =
		json_pack("{s:s, s:s, s:s}", "op", "policy_import", "name", name, "text", text);
	char *sent = question ? json_dumps(question, JSON_COMPACT) : NULL;
	size_t size = sent ? strlen(sent) : 0;

	free(sent);
	if (size && size + PATH_MAX + 64 <= DAVY_MESSAGE_MAX)
		return question;
	json_decref(question);
	return NULL;
}

static int import_text(const char *path, const char *text, size_t size,
		       const struct davy_history_options *o)
{
	char error[DAVY_LAYER_ERROR_LEN] = "", name[256];
	struct outcome out = { .result = 0 };
	json_t *question;
	const char *body;
	int status;

	davy_text_safe(name, sizeof(name), strcmp(path, "-") ? path : "standard input");
	if (davy_layer_text_take(name, text, size, NULL, &body, error)) {
		davy_log("%s; nothing is imported", error);
		return DAVY_EXIT_FAILED;
	}
	status = davy_client_find(o->socket_path);
	if (status == DAVY_EXIT_NOTHING) {
		status = NO_AGENT;
	} else if (!status) {
		question = import_question(name, text);
		if (!question) {
			davy_log("'%s' is too long to send to the agent (%zu bytes, at most "
				 "%d): stop the agent and try again",
				 name, size, DAVY_MESSAGE_MAX);
			return DAVY_EXIT_FAILED;
		}
		status = policy_change_ask(o, question, &out);
	}
	if (status > 0)
		return status;
	if (status == NO_AGENT)
		out.result = davy_layer_import(o->state_dir, name, text, size, out.why);
	return tell_version(o, &out);
}

static int policy_change_import(const char *path, const struct davy_history_options *o)
{
	char *text = malloc(DAVY_GENERATED_MAX + 1);
	ssize_t n = text ? read_import(path, text) : -ENOMEM;
	int status = n < 0 ? DAVY_EXIT_FAILED : import_text(path, text, (size_t)n, o);

	free(text);
	return status;
}

static void forget_here(const struct davy_history_options *o, const char *device, const char *model,
			struct outcome *out)
{
	struct davy_layer_forgotten forgotten;
	struct davy_learned learned;
	DAVY_FILE_LOCK lock = { .fd = -1 };
	char path[PATH_MAX];
	int line = 0, err = 0;

	if (!access(o->state_dir, F_OK)) {
		snprintf(path, sizeof(path), "%.3000s/" DAVY_LEARNED_NAME, o->state_dir);
		err = davy_file_lock_take(&lock, path, DAVY_LOCK_COMMAND_MS);
	}
	if (!err)
		err = davy_learned_load(o->state_dir, &learned, &line);
	if (!err)
		out->learned = (int)davy_learned_forget(&learned, device, model, NULL);
	if (!err && out->learned)
		err = davy_learned_save(o->state_dir, &learned);
	if (!err) {
		err = davy_layer_forget(o->state_dir, device, model, &forgotten, out->why);
		out->result = err ? err : forgotten.row_count;
		out->rules = forgotten.rule_count;
		return;
	}
	out->result = err;
	out->learned = 0;
	if (err == -EBADMSG)
		snprintf(out->why, sizeof(out->why),
			 "'%.300s/%s', line %d: syntax error; correct or remove the file",
			 o->state_dir, DAVY_LEARNED_NAME, line);
	else
		snprintf(out->why, sizeof(out->why), "'%.300s/%s': %s", o->state_dir,
			 DAVY_LEARNED_NAME, strerror(-err));
}

static int tell_forgotten(const struct davy_history_options *o, const struct outcome *out)
{
	json_t *reported;

	if (out->result < 0) {
		davy_log("%s", out->why);
	} else if (o->json) {
		reported = json_pack("{s:i, s:i, s:i}", "ledger", out->result, "learned",
				     out->learned, "rules", out->rules);
		json_dumpf(reported, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(reported);
	} else {
		printf("forgotten: %d row%s of ledger and tuner, %d breaker%s, %d rule%s\n",
		       out->result, out->result == 1 ? "" : "s", out->learned,
		       out->learned == 1 ? "" : "s", out->rules, out->rules == 1 ? "" : "s");
	}
	return status_of(out);
}

static int policy_change_forget(const struct davy_history_options *o)
{
	const char *device = o->device ? o->device : "", *model = o->model ? o->model : "";
	struct outcome out = { .result = 0 };
	json_t *question;
	int status;

	if (o->all == (device[0] || model[0])) {
		davy_log("nothing selected: 'davylamp policy forget' needs --model NAME, --device "
			 "ADDRESS, both, or --all");
		return DAVY_EXIT_USAGE;
	}
	question = json_pack("{s:s, s:s, s:s, s:b}", "op", "policy_forget", "device", device,
			     "model", model, "all", o->all);
	if (!question) {
		davy_log("the name is not valid UTF-8");
		return DAVY_EXIT_USAGE;
	}
	status = policy_change_ask(o, question, &out);
	if (status > 0)
		return status;
	if (status == NO_AGENT)
		forget_here(o, device, model, &out);
	return tell_forgotten(o, &out);
}

int davy_policy_history_word(const char *word, char *const *words, size_t count,
			     const struct davy_history_options *o)
{
	if (!count && !strcmp(word, "ledger"))
		return davy_policy_ledger(o);
	if (!count && !strcmp(word, "history"))
		return davy_policy_history(o);
	if (count <= 2 && !strcmp(word, "diff"))
		return davy_policy_diff(words, count, o);
	if (count == 1 && !strcmp(word, "rollback"))
		return policy_change_rollback(words[0], o);
	if (count == 1 && !strcmp(word, "export"))
		return davy_policy_export(words[0], o);
	if (count == 1 && !strcmp(word, "import"))
		return policy_change_import(words[0], o);
	if (!count && !strcmp(word, "forget"))
		return policy_change_forget(o);
	return -1;
}
