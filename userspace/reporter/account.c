/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/types.h"
#include "reporter/dossier.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/message.h"

#define AROUND_NS 60000000000LL /* events this long before and after the incident */

/* What a redacted account keeps of a decision or event: kinds, not texts of strangers. */
static const char *const kept_words[] = {
	"rung",	  "hazard", "verdict", "refusal", "engine", "backend", "to_backend",	 "undoes",
	"passed", "class",  "state",   "ended",	  "unit",   "heap",    "passed_because", NULL,
};
/* A process event has other things under the same names: "unit" is a service's. */
static const char *const kept_words_of_event[] = { "event", "engine", "backend", NULL };
static const char *const kept_numbers[] = {
	"at_ns",
	"id",
	"level",
	"observed",
	"threshold",
	"result",
	"lead_ns",
	"until_ns",
	"lease_ns",
	"on_permille",
	"cap_bytes",
	"pid",
	"workload",
	"rate",
	"ubatch",
	"fitting_ubatch",
	"predicted_depth",
	"first_sign_ns",
	"health_status",
	"victim_pid",
	"culprit_pid",
	"completion_status",
	NULL,
};

struct account_names {
	bool redact;
	json_t *known; /* object: a name to its replacement */
	int count[2];  /* processes, models */
};

static bool account_is_pci(const char *text)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	return sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &slot, &function, &end) == 4 &&
	       strlen(text) == 12 && end == 12;
}

/* "gfx_0.0.0", "comp_1.0.0", "sdma0", "rcs0": the drivers' own names. */
static bool account_is_ring(const char *text)
{
	static const char *const rings[] = { "gfx", "comp", "sdma", "vcn", "jpeg", "kiq",
					     "mes", "uvd",  "vce",  "rcs", "bcs",  "ccs",
					     "vcs", "vecs", "vram", "gtt", "host" };

	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		size_t length = strlen(rings[i]);

		if (!strncmp(text, rings[i], length) &&
		    strspn(text + length, "0123456789_.") == strlen(text + length))
			return true;
	}
	return false;
}

/* Names of the core: lower case words. Anything else does not come from it. */
static bool account_is_word(const char *text)
{
	return *text && strlen(text) < 48 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-. '") == strlen(text);
}

/* "process-1", the same one for the same name. */
static const char *account_name(struct account_names *n, const char *name, bool model)
{
	char text[32];

	if (!n->redact || !*name)
		return name;
	if (!json_object_get(n->known, name)) {
		snprintf(text, sizeof(text), "%s-%d", model ? "model" : "process",
			 ++n->count[model]);
		json_object_set_new(n->known, name, json_string(text));
	}
	return davy_message_text(n->known, name);
}

static const char *account_device(const struct account_names *n, const char *device)
{
	if (!n->redact || !*device || account_is_pci(device) || !strcmp(device, DAVY_LLVMPIPE))
		return device;
	return "a device";
}

static void account_keep(json_t *o, const json_t *from, const char *const *keys, bool words)
{
	for (; *keys; keys++) {
		json_t *value = json_object_get(from, *keys);

		if (words ? json_is_string(value) && account_is_word(json_string_value(value))
			  : json_is_integer(value) || json_is_boolean(value))
			json_object_set(o, *keys, value);
	}
}

static json_t *account_evidence(const json_t *from)
{
	static const char *const words[] = { "event", NULL };
	static const char *const numbers[] = { "at_ns", "count", NULL };
	json_t *list = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach(from, i, one)
	{
		json_t *o = json_object();

		account_keep(o, one, words, true);
		account_keep(o, one, numbers, false);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *account_redacted(struct account_names *n, const json_t *body)
{
	const char *ring = davy_message_text(body, "ring");
	json_t *o = json_object();

	account_keep(o, body, *davy_message_text(body, "rung") ? kept_words : kept_words_of_event,
		     true);
	account_keep(o, body, kept_numbers, false);
	if (*davy_message_text(body, "device"))
		json_object_set_new(
			o, "device",
			json_string(account_device(n, davy_message_text(body, "device"))));
	if (account_is_ring(ring))
		json_object_set_new(o, "ring", json_string(ring));
	if (*davy_message_text(body, "comm"))
		json_object_set_new(
			o, "comm",
			json_string(account_name(n, davy_message_text(body, "comm"), false)));
	if (*davy_message_text(body, "model"))
		json_object_set_new(
			o, "model",
			json_string(account_name(n, davy_message_text(body, "model"), true)));
	if (json_object_get(body, "evidence"))
		json_object_set_new(o, "evidence",
				    account_evidence(json_object_get(body, "evidence")));
	return o;
}

/* A text from the kept members: the agent's own has names in it. */
static void account_compose(const json_t *body, char *buf, size_t size)
{
	const char *rung = davy_message_text(body, "rung");
	const char *unit = davy_message_text(body, "unit");
	int n = snprintf(
		buf, size, "%s %s%s%s level %lld: %s[%lld] %s %s",
		*rung ? rung : davy_message_text(body, "event"), davy_message_text(body, "hazard"),
		davy_message_text(body, "class"), davy_message_text(body, "verdict"),
		(long long)davy_message_number(body, "level", 0), davy_message_text(body, "comm"),
		(long long)davy_message_number(body, "pid", 0), davy_message_text(body, "device"),
		davy_message_text(body, "ring"));

	if (*unit && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ": %lld, threshold %lld %s",
			 (long long)davy_message_number(body, "observed", 0),
			 (long long)davy_message_number(body, "threshold", 0), unit);
}

/* The agent's text begins with seconds since boot, which "at" repeats. */
static const char *account_said(const char *text)
{
	while (*text == ' ' || isdigit((unsigned char)*text) || *text == '.')
		text++;
	return text;
}

static json_t *account_line(struct account_names *n, const json_t *line, json_int_t zero_ns)
{
	json_t *body = json_object_get(line, "json"), *o;
	char text[1024];

	if (n->redact) {
		body = account_redacted(n, body);
		account_compose(body, text, sizeof(text));
	} else {
		json_incref(body);
		snprintf(text, sizeof(text), "%s", account_said(davy_message_text(line, "text")));
	}
	o = json_pack("{s:I, s:s, s:o}", "after_ms",
		      (davy_message_number(body, "at_ns", 0) - zero_ns) / 1000000, "text", text,
		      "json", body ? body : json_null());
	return o ? o : json_object(); /* a cut text may end within a character */
}

/* Sensors come and go with their modules; only a loss of events matters here. */
static bool account_is_noise(const json_t *body)
{
	return !strcmp(davy_message_text(body, "event"), "sensor") &&
	       strcmp(davy_message_text(body, "state"), "lost") != 0;
}

static json_t *account_lines(struct account_names *n, const json_t *lines,
			     const struct davy_told_incident *in, bool events)
{
	json_t *list = json_array();
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		json_int_t at_ns = davy_message_number(json_object_get(line, "json"), "at_ns", 0);

		if (events &&
		    (account_is_noise(json_object_get(line, "json")) ||
		     at_ns < in->first_sign_ns - AROUND_NS || at_ns > in->last_ns + AROUND_NS ||
		     json_array_size(list) == DAVY_DOSSIER_SHOWN))
			continue;
		json_array_append_new(list, account_line(n, line, in->begun_ns));
	}
	return list;
}

static void account_put_when(const struct davy_dossier *d, const struct davy_told_incident *in,
			     json_t *o)
{
	time_t wall = (time_t)(d->clock_s - (d->clock_ns - in->begun_ns) / 1000000000);
	char date[40];
	struct tm tm;

	json_object_set_new(o, "begun_ns", json_integer(in->begun_ns));
	json_object_set_new(
		o, "lasted_ms",
		json_integer(((in->ended_ns ? in->ended_ns : in->last_ns) - in->begun_ns) /
			     1000000));
	json_object_set_new(o, "stands", json_boolean(!in->ended_ns));
	json_object_set_new(o, "first_sign_ms_before",
			    json_integer((in->begun_ns - in->first_sign_ns) / 1000000));
	if (d->clock_s && gmtime_r(&wall, &tm) &&
	    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_object_set_new(o, "begun", json_string(date));
}

/* Numbers only: a name may be part of a local version. */
static json_t *account_versions(const struct davy_dossier *d, bool redact)
{
	json_t *o = json_object(), *value;
	const char *key;

	json_object_foreach(d->versions, key, value)
	{
		const char *text = json_string_value(value);
		char cut[64];

		if (!redact) {
			json_object_set(o, key, value);
			continue;
		}
		text = strcmp(key, "davylamp") != 0 && strcmp(key, "kernel") != 0
			       ? strpbrk(text, "0123456789")
			       : text;
		snprintf(cut, sizeof(cut), "%.*s", text ? (int)strspn(text, "0123456789.") : 0,
			 text ? text : "");
		if (account_is_pci(key) || !strcmp(key, "davylamp") || !strcmp(key, "kernel"))
			json_object_set_new(o, key, json_string(cut));
	}
	return o;
}

static void account_put_subject(struct account_names *n, const struct davy_told_incident *in,
				json_t *o)
{
	static const char *const texts[] = { "engine", "backend" };
	const json_t *line;
	size_t i, j;

	json_array_foreach(in->lines, i, line)
	{
		const json_t *body = json_object_get(line, "json");
		const char *comm = davy_message_text(body, "comm");
		const char *model = davy_message_text(body, "model");
		const char *device = davy_message_text(body, "device");

		if (*device && !json_object_get(o, "device"))
			json_object_set_new(o, "device", json_string(account_device(n, device)));
		if (*comm && !json_object_get(o, "process"))
			json_object_set_new(o, "process",
					    json_string(account_name(n, comm, false)));
		if (*model && !json_object_get(o, "model"))
			json_object_set_new(o, "model", json_string(account_name(n, model, true)));
		for (j = 0; j < 2; j++)
			if (*davy_message_text(body, texts[j]) && !json_object_get(o, texts[j]))
				json_object_set(o, texts[j], json_object_get(body, texts[j]));
	}
}

json_t *davy_account(const struct davy_dossier *d, const struct davy_told_incident *in, bool redact)
{
	struct account_names names = { .redact = redact, .known = json_object() };
	const json_t *act = davy_incident_last(in, NULL);
	const json_t *outcome = davy_incident_last(in, "outcome");
	json_t *o = json_pack("{s:s, s:i, s:I, s:s, s:i, s:b, s:b}", "type", "incident", "schema",
			      1, "id", in->id, "hazard", in->hazard, "level", in->level, "failed",
			      in->failure != NULL, "redacted", redact);

	account_put_when(d, in, o);
	account_put_subject(&names, in, o);
	if (in->failure) {
		json_object_set(o, "failure", json_object_get(in->failure, "class"));
		json_object_set(o, "foreseen", json_object_get(in->failure, "foreseen"));
		json_object_set_new(
			o, "lead_ms",
			json_integer(davy_message_number(in->failure, "lead_ns", 0) / 1000000));
	}
	if (act) {
		json_object_set(o, "action", json_object_get(act, "rung"));
		json_object_set(o, "verdict", json_object_get(act, "verdict"));
		json_object_set(o, "refusal", json_object_get(act, "refusal"));
	}
	if (outcome)
		json_object_set_new(o, "succeeded",
				    json_boolean(!davy_message_number(outcome, "result", 0)));
	json_object_set_new(o, "versions", account_versions(d, redact));
	json_object_set_new(o, "decisions", account_lines(&names, in->lines, in, false));
	json_object_set_new(o, "events", account_lines(&names, d->events, in, true));
	json_decref(names.known);
	return o;
}
