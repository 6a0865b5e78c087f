/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/probe_finding.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

static const char *const kind_names[DAVY_PROBE_KIND_COUNT] = {
	[DAVY_PROBE_HEALTHY] = "healthy", [DAVY_PROBE_REPORTED] = "reported",
	[DAVY_PROBE_EXITED] = "exited",	  [DAVY_PROBE_SIGNAL] = "signal",
	[DAVY_PROBE_TIMEOUT] = "timeout", [DAVY_PROBE_GARBAGE] = "garbage",
	[DAVY_PROBE_MISSING] = "missing",
};

/* Characters of probe words that are passed on. */
#define STAGE_CHARS  "abcdefghijklmnopqrstuvwxyz"
#define DEVICE_CHARS "0123456789abcdef:."

struct output {
	char stage[16];
	char device[24];
	char why[160];
	bool answered;
	bool ok;
	bool garbage;
	const char *answer;
	size_t answer_size;
};

const char *davy_probe_kind_name(enum davy_probe_kind kind)
{
	return (unsigned int)kind < DAVY_PROBE_KIND_COUNT ? kind_names[kind] : "?";
}

/* False: the text exists, but has characters outside "allowed", or is too long. */
static bool take_word(const json_t *object, const char *key, const char *allowed, char *word,
		      size_t size)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	if (!value)
		return true;
	if (!text || strlen(text) >= size || text[strspn(text, allowed)])
		return false;
	memcpy(word, text, strlen(text) + 1);
	return true;
}

static bool take_answer(const json_t *object, const char *line, size_t size, struct output *o)
{
	const char *why = json_string_value(json_object_get(object, "why"));

	if (!json_is_boolean(json_object_get(object, "ok")))
		return false;
	if (!take_word(object, "stage", STAGE_CHARS, o->stage, sizeof(o->stage)) ||
	    !take_word(object, "blamed", DEVICE_CHARS, o->device, sizeof(o->device)))
		return false;
	o->ok = json_is_true(json_object_get(object, "ok"));
	o->answered = true;
	o->answer = line;
	o->answer_size = size;
	davy_text_safe(o->why, sizeof(o->why), why ? why : "");
	return true;
}

static bool take_line(const char *line, size_t size, struct output *o)
{
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	bool good = json_is_object(object) && !o->answered;

	if (good && json_object_get(object, "ok")) {
		good = take_answer(object, line, size, o);
	} else if (good) {
		good = json_is_string(json_object_get(object, "stage")) &&
		       take_word(object, "stage", STAGE_CHARS, o->stage, sizeof(o->stage));
		o->device[0] = 0;
		good = good &&
		       take_word(object, "device", DEVICE_CHARS, o->device, sizeof(o->device));
	}
	json_decref(object);
	return good;
}

/* Reads up to the first invalid line. */
static void probe_finding_read_output(const char *text, size_t size, bool whole, struct output *o)
{
	while (size && !o->garbage) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;

		if (end)
			o->garbage = !take_line(text, length, o);
		else
			o->garbage = whole; /* otherwise it died while writing */
		text += length;
		size -= length;
		if (end) {
			text++;
			size--;
		}
	}
	if (o->garbage)
		o->answered = false;
}

static enum davy_probe_kind kind_of(const struct davy_probe_end *end, const struct output *o)
{
	if (end->error)
		return DAVY_PROBE_MISSING;
	if (end->overflow)
		return DAVY_PROBE_GARBAGE;
	if (end->timed_out || end->signal == SIGALRM)
		return DAVY_PROBE_TIMEOUT;
	if (end->signal)
		return DAVY_PROBE_SIGNAL;
	if (end->exit && !o->garbage)
		return DAVY_PROBE_EXITED;
	if (!o->answered)
		return DAVY_PROBE_GARBAGE;
	return o->ok ? DAVY_PROBE_HEALTHY : DAVY_PROBE_REPORTED;
}

static const char *probe_finding_hint(int signal)
{
	if (signal == SIGXCPU)
		return " (its limit of CPU time)";
	if (signal == SIGKILL)
		return " (out of memory, or sent by a user)";
	return signal == SIGSYS ? " (a system call that its sandbox forbids)" : "";
}

static void what_happened(const struct davy_probe_end *end, const struct output *o,
			  enum davy_probe_kind kind, char *text, size_t size)
{
	const char *name = sigabbrev_np(end->signal);

	switch (kind) {
	case DAVY_PROBE_HEALTHY:
		snprintf(text, size, "healthy");
		break;
	case DAVY_PROBE_REPORTED:
		snprintf(text, size, "%s", o->why[0] ? o->why : "not healthy");
		break;
	case DAVY_PROBE_EXITED:
		snprintf(text, size, "exited with status %d", end->exit);
		break;
	case DAVY_PROBE_SIGNAL:
		snprintf(text, size, "killed by SIG%s%s", name ? name : "?",
			 probe_finding_hint(end->signal));
		break;
	case DAVY_PROBE_TIMEOUT:
		snprintf(text, size, "hung, killed after %u ms%s", end->ms,
			 end->stuck ? "; it survived SIGKILL: blocked in the kernel" : "");
		break;
	case DAVY_PROBE_GARBAGE:
		snprintf(text, size, "%s",
			 end->overflow ? "wrote more than 64 KiB"
			 : o->garbage  ? "its output is not valid"
				       : "ended without an answer");
		break;
	default:
		snprintf(text, size, "davylamp-probe could not be started: %s",
			 strerror(-end->error));
	}
}

/* The last line of its output, sanitized. */
static void last_words(const char *noise, char *text, size_t size)
{
	char line[128];
	size_t length = strlen(noise), start;

	while (length && (noise[length - 1] == '\n' || noise[length - 1] == '\r'))
		length--;
	for (start = length; start && noise[start - 1] != '\n'; start--)
		;
	if (length - start >= sizeof(line))
		length = start + sizeof(line) - 1;
	memcpy(line, noise + start, length - start);
	line[length - start] = 0;
	davy_text_safe(text, size, line);
}

void davy_probe_judge(const struct davy_probe_end *end, const char *output, size_t size,
		      const char *noise, struct davy_probe_finding *ret_finding)
{
	struct davy_probe_finding f = { .ms = end->ms };
	char what[192], words[160] = "", where[64] = "";
	struct output o = { 0 };

	probe_finding_read_output(output, size, !end->signal && !end->timed_out && !end->overflow,
				  &o);
	f.kind = kind_of(end, &o);
	f.signal = f.kind == DAVY_PROBE_SIGNAL ? end->signal : 0;
	f.exit = f.kind == DAVY_PROBE_EXITED ? end->exit : 0;
	memcpy(f.stage, o.stage, sizeof(f.stage));
	memcpy(f.device, o.device, sizeof(f.device));
	if (o.answered) {
		f.answer = o.answer;
		f.answer_size = o.answer_size;
	}
	what_happened(end, &o, f.kind, what, sizeof(what));
	if (f.kind != DAVY_PROBE_HEALTHY && f.stage[0])
		snprintf(where, sizeof(where), " in stage %s%s%s", f.stage,
			 f.device[0] ? " of device " : "", f.device);
	if (f.kind != DAVY_PROBE_HEALTHY && f.kind != DAVY_PROBE_MISSING)
		last_words(noise, words, sizeof(words));
	snprintf(f.text, sizeof(f.text), "%s%s%s%s", what, where, words[0] ? "; its output: " : "",
		 words);
	*ret_finding = f;
}

json_t *davy_probe_finding_json(const struct davy_probe_finding *f)
{
	json_t *object =
		json_pack("{s:s, s:b, s:I, s:s}", "kind", davy_probe_kind_name(f->kind), "healthy",
			  f->kind == DAVY_PROBE_HEALTHY, "ms", (json_int_t)f->ms, "text", f->text);
	const char *name = f->kind == DAVY_PROBE_SIGNAL ? sigabbrev_np(f->signal) : NULL;

	if (!object)
		return NULL;
	if (f->kind == DAVY_PROBE_SIGNAL)
		json_object_set_new(object, "signal", json_integer(f->signal));
	if (name)
		json_object_set_new(object, "signal_name", json_sprintf("SIG%s", name));
	if (f->kind == DAVY_PROBE_EXITED)
		json_object_set_new(object, "exit", json_integer(f->exit));
	if (f->stage[0])
		json_object_set_new(object, "stage", json_string(f->stage));
	if (f->device[0])
		json_object_set_new(object, "device", json_string(f->device));
	if (f->answer)
		json_object_set_new(object, "answer",
				    json_loadb(f->answer, f->answer_size, 0, NULL));
	return object;
}
