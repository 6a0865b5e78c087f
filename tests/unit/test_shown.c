/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model's name is escaped once, when it is read from the command line, and not again at
 * output.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "lib/message.h"
#include "report/event_text.h"
#include "report/plan_text.h"
#include "report/process_json.h"

#define FILE_NAME "/models/odd\\name\x1b[2J.gguf"
#define ONCE	  "odd\\\\name\\x1b[2J.gguf"

static void name_it(char model[DAVY_MODEL_LEN])
{
	char *argv[] = { "llama-server", "-m", FILE_NAME, NULL }, *envp[] = { NULL };
	struct davy_engine_look look = { .argv = argv, .envp = envp, .exe = "", .parent = "" };
	struct davy_engine_facts facts;

	davy_engine_identify(&look, &facts);
	assert_string_equal(facts.model, ONCE);
	davy_copy_name(model, DAVY_MODEL_LEN, facts.model);
}

static struct davy_event process_event(void)
{
	struct davy_event ev = { .kind = DAVY_EV_PROCESS, .pid = 60 };

	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	davy_copy_name(ev.process.comm, sizeof(ev.process.comm), "llama-server");
	name_it(ev.process.model);
	return ev;
}

static void events_show_it_once(void **state)
{
	struct davy_event ev = process_event();
	char text[DAVY_EVENT_TEXT_SIZE];
	json_t *json = davy_process_json(&ev.process), *line;
	char *printed;

	(void)state;
	assert_true(davy_event_text(&ev, text, sizeof(text)));
	assert_non_null(strstr(text, "model " ONCE));
	assert_string_equal(davy_message_text(json, "model"), ONCE);
	json_decref(json);
	printed = davy_event_json(&ev);
	line = json_loads(printed, 0, NULL);
	assert_string_equal(davy_message_text(line, "model"), ONCE);
	json_decref(line);
	free(printed);
}

static void plans_show_it_once(void **state)
{
	struct davy_plan plan = { .kind = DAVY_PLAN_FAILURE,
				  .pid = 60,
				  .evidence_count = 1,
				  .engine = DAVY_ENGINE_LLAMA_SERVER };
	char text[DAVY_PLAN_TEXT_SIZE];
	json_t *line;
	char *printed;

	(void)state;
	plan.evidence[0].kind = DAVY_EV_PROCESS_EXIT;
	name_it(plan.model);
	plan.failure_class = DAVY_CLASS_OTHER;
	davy_plan_text(&plan, text, sizeof(text));
	assert_non_null(strstr(text, "model " ONCE));
	printed = davy_plan_json(&plan);
	line = json_loads(printed, 0, NULL);
	assert_string_equal(davy_message_text(line, "model"), ONCE);
	json_decref(line);
	free(printed);
}

/* What was not escaped before is, whatever path it took. */
static void raw_names_are_still_escaped(void **state)
{
	struct davy_event ev = process_event();
	char text[DAVY_EVENT_TEXT_SIZE];

	(void)state;
	davy_copy_name(ev.process.model, sizeof(ev.process.model), "a\x1b[2J\xff.gguf");
	assert_true(davy_event_text(&ev, text, sizeof(text)));
	assert_non_null(strstr(text, "model a\\x1b[2J\\xff.gguf"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_show_it_once),
		cmocka_unit_test(plans_show_it_once),
		cmocka_unit_test(raw_names_are_still_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
