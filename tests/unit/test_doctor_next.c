/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next command of the overview, from an empty host to one where nothing is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/next.h"

static struct davy_doctor_facts facts;
static struct davy_next next;

static void assert_next(const char *command)
{
	davy_doctor_next(&facts, &next);
	assert_string_equal(next.command, command);
}

static void each_step_leads_to_the_next(void **state)
{
	(void)state;
	memset(&facts, 0, sizeof(facts));
	facts.gpu_count = 1;
	strcpy(facts.gpu[0].wanted, "amdgpu");
	assert_next("modprobe amdgpu");
	strcpy(facts.gpu[0].driver, "amdgpu");
	assert_next("davylamp run");
	facts.lamp.installed = true;
	assert_next("systemctl enable --now davylamp");
	facts.lamp.runs = true;
	strcpy(facts.lamp.mode, "advise");
	assert_next("davylamp exec -- COMMAND");
	facts.running_count = 1;
	facts.running[0].pid = 7;
	assert_next("davylamp exec --explain -- COMMAND");
	facts.running[0].adopted = true;
	assert_next("davylamp top");
	assert_non_null(strstr(next.missing, "mode = enforce"));
	strcpy(facts.lamp.mode, "enforce");
	assert_next("davylamp top");
	assert_string_equal(next.missing, "nothing");
}

static void a_service_is_preferred_to_a_process(void **state)
{
	(void)state;
	facts.running_count = 3;
	facts.running[1].adopted = facts.running[2].adopted = false;
	strcpy(facts.running[2].unit, "ollama.service");
	assert_next("davylamp policy adopt ollama.service");
}

static void the_longest_name_fits(void **state)
{
	(void)state;
	memset(facts.running[2].unit, 'u', sizeof(facts.running[2].unit) - 1);
	davy_doctor_next(&facts, &next);
	assert_int_equal(strlen(next.command),
			 strlen("davylamp policy adopt ") + sizeof(facts.running[2].unit) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_leads_to_the_next),
		cmocka_unit_test(a_service_is_preferred_to_a_process),
		cmocka_unit_test(the_longest_name_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
