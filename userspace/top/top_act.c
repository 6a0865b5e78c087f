/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders from the interactive view (--allow-act): a key, a question, and what 'act' sends. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/message.h"
#include "report/plan_text.h"
#include "top/top.h"

#define PATIENCE_MS 180000 /* a new engine may load for minutes */
#define SHOWN_MS    10000

static const struct order {
	char key;
	const char *rung, *words; /* of the question */
	json_int_t lease_ns, on_permille;
} orders[] = {
	{ 'p', "pause", "pause for 10 s", 10000000000LL, 0 },
	{ 't', "throttle", "throttle to 50 % for 60 s", 60000000000LL, 500 },
	{ 'c', "migrate_cpu", "migrate to the CPU", 0, 0 },
	{ 'u', "undo", "undo the latest action", 0, 0 },
};

static void act_say(struct davy_top *top, const char *text)
{
	snprintf(top->act.text, sizeof(top->act.text), "%s: workload %lld: %s", top->act.rung,
		 (long long)top->act.workload, text);
	top->act.said_ms = davy_now_ms();
}

static const struct davy_top_work *act_subject(const struct davy_top *top)
{
	size_t row = top->chosen[DAVY_TOP_WORKLOADS];

	return top->panel == DAVY_TOP_WORKLOADS && row < top->work_count ? &top->work[row] : NULL;
}

static void act_question(struct davy_top *top, const struct order *o)
{
	const struct davy_top_work *w = act_subject(top);

	if (!w || w->workload <= 0) {
		snprintf(top->act.text, sizeof(top->act.text), "select an adopted workload first");
		top->act.said_ms = davy_now_ms();
		return;
	}
	top->act.asked = (int)(o - orders) + 1;
	top->act.workload = w->workload;
	snprintf(top->act.text, sizeof(top->act.text), "%s: workload %lld, %s %.40s? y: yes",
		 o->words, (long long)w->workload, davy_message_text(w->process, "engine"),
		 davy_message_text(w->process, "model"));
}

static void act_send(struct davy_top *top, const struct order *o)
{
	json_t *message = json_pack("{s:s, s:s, s:I, s:b}", "op", "order", "rung", o->rung,
				    "workload", top->act.workload, "dry_run", 0);
	int err = top->act.fd = davy_message_connect(top->in.socket_path, DAVY_CONNECT_MS);

	if (o->lease_ns)
		json_object_set_new(message, "lease_ns", json_integer(o->lease_ns));
	if (o->on_permille)
		json_object_set_new(message, "on_permille", json_integer(o->on_permille));
	if (err >= 0)
		err = davy_message_send(top->act.fd, message);
	else
		json_decref(message);
	if (err == -EPIPE)
		err = 0; /* a refusal may be waiting to be read */
	top->act.waiting = err >= 0;
	top->act.until_ms = davy_now_ms() + PATIENCE_MS;
	top->act.rung = o->rung;
	act_say(top, err < 0 ? strerror(-err) : "in progress");
	if (err < 0 && top->act.fd >= 0)
		close(top->act.fd);
}

bool davy_top_act_key(struct davy_top *top, int key)
{
	int asked = top->act.asked;

	if (!top->act.allowed || top->details) /* there, a question would not be seen */
		return false;
	top->act.asked = 0;
	if (!top->act.waiting)
		top->act.text[0] = 0;
	if (asked) {
		if (key == 'y')
			act_send(top, &orders[asked - 1]);
		return true;
	}
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (orders[i].key != key)
			continue;
		if (!top->act.waiting)
			act_question(top, &orders[i]);
		return true;
	}
	return false;
}

static void act_say_answer(struct davy_top *top, const json_t *answer)
{
	bool failed = json_is_true(json_object_get(answer, "failed"));
	bool go = !strcmp(davy_message_text(answer, "verdict"), "go");
	const char *why = davy_message_text(answer, "why"); /* of a refusal */
	char text[100];

	snprintf(text, sizeof(text), "failed: %s",
		 davy_act_error_text((int)davy_message_number(answer, "result", 0)));
	if (!go)
		act_say(top, *why ? why : davy_message_text(answer, "text"));
	else
		act_say(top, failed ? text : "the agent has done it");
}

void davy_top_act_read(struct davy_top *top)
{
	json_t *answer = NULL;
	int err;

	if (!top->act.waiting) {
		if (!top->act.asked && davy_now_ms() - top->act.said_ms > SHOWN_MS)
			top->act.text[0] = 0; /* an old answer looks like a new one */
		return;
	}
	err = davy_message_receive(top->act.fd, &answer);
	if (err == -EAGAIN && davy_now_ms() < top->act.until_ms)
		return;
	if (err)
		act_say(top, err == -ECONNRESET ? "the agent ended before it answered"
			     : err == -EAGAIN	? "the agent has not answered"
						: strerror(-err));
	else
		act_say_answer(top, answer);
	json_decref(answer);
	close(top->act.fd);
	top->act.waiting = false;
}
