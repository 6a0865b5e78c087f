/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of a handover in which davylamp-probe asks an engine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "act/probe_run.h"
#include "lib/log.h"
#include "exec/supervisor.h"

#define TOKEN_MS 60000 /* the first token may compile shaders */
#define SLOTS_MS 20000 /* for all slots; a busy one delays it */
#define SPARE_MS 3000  /* the probe's own limits expire first */

#define WORDS_MAX 24

struct question {
	struct davy_supervisor *supervisor;
	uint32_t number;
	enum davy_handover_stage stage;
	size_t count;
	const char *words[WORDS_MAX];
	char port[8], from_port[8], wait_ms[12], timeout_ms[12], set[24];
};

static void handover_ask_take_slots(struct davy_supervisor *s, const struct davy_probe_finding *f,
				    bool save)
{
	uint64_t slots = 0, tokens = 0;
	int err = davy_slots_parse(f->answer, f->answer_size, &slots, &tokens);

	if (err || f->kind != DAVY_PROBE_HEALTHY)
		davy_log("not every slot could be %s: %s", save ? "saved" : "restored", f->text);
	if (save)
		s->handover.slots.saved = slots;
	if (!err && slots)
		davy_log("slots: %llu tokens %s", (unsigned long long)tokens,
			 save ? "saved" : "restored");
}

static void handover_ask_on_answer(void *arg, const struct davy_probe_finding *finding)
{
	struct question *q = arg;
	struct davy_supervisor *s = q->supervisor;
	bool current = s->handover.stage == q->stage && s->handover.number == q->number;

	if (current && q->stage == DAVY_HANDOVER_WARM) {
		s->handover.token_ms = finding->ms;
		davy_handover_warmed(s, finding->kind == DAVY_PROBE_HEALTHY, finding->text);
	} else if (current) {
		handover_ask_take_slots(s, finding, q->stage == DAVY_HANDOVER_SAVE);
		if (q->stage == DAVY_HANDOVER_SAVE)
			davy_handover_saved(s);
		else
			davy_handover_restored(s);
	}
	free(q);
}

static void handover_ask_add(struct question *q, const char *name, const char *value)
{
	q->words[q->count++] = name;
	q->words[q->count++] = value;
}

static void handover_ask_add_number(struct question *q, const char *name, char *buf, size_t size,
				    uint64_t value)
{
	snprintf(buf, size, "%llu", (unsigned long long)value);
	handover_ask_add(q, name, buf);
}

/* Only the new engine shares its port with another. */
static uint32_t handover_ask_fill(struct question *q)
{
	const struct davy_supervisor *s = q->supervisor;
	const struct davy_handover *h = &s->handover;
	uint32_t wait_ms = q->stage == DAVY_HANDOVER_WARM ? h->load_ms : 0;
	uint32_t timeout_ms = q->stage == DAVY_HANDOVER_WARM ? TOKEN_MS : SLOTS_MS;

	q->words[q->count++] = "engine";
	q->words[q->count++] = "--brief";
	handover_ask_add(q, "--host", h->address);
	handover_ask_add_number(q, "--port", q->port, sizeof(q->port), s->launch->facts.port);
	handover_ask_add_number(q, "--wait-ms", q->wait_ms, sizeof(q->wait_ms), wait_ms);
	handover_ask_add_number(q, "--timeout-ms", q->timeout_ms, sizeof(q->timeout_ms),
				timeout_ms);
	if (h->beside && q->stage != DAVY_HANDOVER_SAVE)
		handover_ask_add_number(q, "--from-port", q->from_port, sizeof(q->from_port),
					h->from_port);
	if (q->stage == DAVY_HANDOVER_SAVE || q->stage == DAVY_HANDOVER_RESTORE) {
		handover_ask_add(q, "--slots", q->stage == DAVY_HANDOVER_SAVE ? "save" : "restore");
		handover_ask_add(q, "--prefix", h->slots.prefix);
		handover_ask_add_number(q, "--slot-set", q->set, sizeof(q->set), h->slots.saved);
	}
	return wait_ms + timeout_ms + SPARE_MS;
}

void davy_handover_ask(struct davy_supervisor *s)
{
	struct question *q = calloc(1, sizeof(*q));
	struct davy_probe_request request = { .program = s->probe_path,
					      .api_key = s->launch->facts.api_key,
					      .done = handover_ask_on_answer,
					      .arg = q };
	struct davy_probe_finding none;
	int err;

	if (!q) {
		davy_handover_cancel(s, -ENOMEM);
		return;
	}
	q->supervisor = s;
	q->number = ++s->handover.number;
	q->stage = s->handover.stage;
	request.limit_ms = handover_ask_fill(q);
	request.arguments = q->words;
	err = davy_probe_start(s->loop, &request);
	if (!err)
		return;
	davy_probe_not_started(err, &none);
	handover_ask_on_answer(q, &none);
}
