/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meaning of a run of davylamp-probe, also of misbehaving programs in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these four first */
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "act/probe_run.h"

#define STAGES	"{\"stage\":\"loader\"}\n{\"stage\":\"wait\",\"device\":\"0000:03:00.0\"}\n"
#define HEALTHY "{\"ok\":true,\"stage\":\"done\"}\n"

static struct davy_probe_finding judged(struct davy_probe_end end, const char *output)
{
	struct davy_probe_finding finding;

	davy_probe_judge(&end, output, strlen(output), "", &finding);
	return finding;
}

static struct davy_probe_finding said(const char *output)
{
	return judged((struct davy_probe_end){ 0 }, output);
}

static void an_answer_is_healthy_or_has_a_reason(void **state)
{
	struct davy_probe_finding f = said(STAGES HEALTHY);

	(void)state;
	assert_int_equal(f.kind, DAVY_PROBE_HEALTHY);
	assert_string_equal(f.text, "healthy");
	assert_string_equal(f.stage, "done");
	assert_memory_equal(f.answer, HEALTHY, f.answer_size);
	f = said(STAGES
		 "{\"ok\":false,\"stage\":\"wait\",\"why\":\"a\\u001bb\",\"blamed\":\"1\"}\n");
	assert_int_equal(f.kind, DAVY_PROBE_REPORTED);
	assert_string_equal(f.text, "a\\x1bb in stage wait of device 1");
	assert_string_equal(f.device, "1");
}

static void only_the_probes_own_words_count(void **state)
{
	static const char *const garbage[] = {
		"",
		"\n",
		"{}\n",
		"[]\n",
		"{\"ok\":true}", /* the line has no end */
		"{\"ok\":1}\n",
		"{\"ok\":true,\"ok\":true}\n",
		HEALTHY HEALTHY,
		HEALTHY "{\"stage\":\"wait\"}\n",
		"noise\n" HEALTHY,
		HEALTHY "noise",
		"{\"stage\":5}\n" HEALTHY,
		"{\"stage\":\"a b\"}\n" HEALTHY,
		"{\"stage\":\"\\n\"}\n" HEALTHY,
		"{\"stage\":\"sixteenletterswo\"}\n" HEALTHY,
		"{\"stage\":\"wait\",\"device\":\"../x\"}\n" HEALTHY,
		"{\"ok\":true,\"stage\":\"\xff\"}\n",
		"{\"ok\":true,\"stage\":[]}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct davy_probe_finding f = said(garbage[i]);

		assert_int_equal(f.kind, DAVY_PROBE_GARBAGE);
		assert_null(f.answer);
	}
	assert_string_equal(said(STAGES "noise\n").stage, "wait");
}

static void nesting_without_end_is_garbage(void **state)
{
	char *deep = malloc(60001);

	(void)state;
	memset(deep, '[', 60000);
	deep[59999] = '\n';
	deep[60000] = 0;
	assert_int_equal(said(deep).kind, DAVY_PROBE_GARBAGE);
	free(deep);
}

static void the_exit_status_has_precedence_over_the_answer(void **state)
{
	struct davy_probe_finding f;

	(void)state;
	f = judged((struct davy_probe_end){ .signal = SIGSEGV }, STAGES "{\"sta");
	assert_int_equal(f.kind, DAVY_PROBE_SIGNAL);
	assert_int_equal(f.signal, SIGSEGV);
	assert_string_equal(f.text, "killed by SIGSEGV in stage wait of device 0000:03:00.0");
	f = judged((struct davy_probe_end){ .signal = SIGSEGV }, STAGES HEALTHY);
	assert_int_equal(f.kind, DAVY_PROBE_SIGNAL); /* a driver may crash after its work */
	f = judged((struct davy_probe_end){ .timed_out = true, .signal = SIGKILL, .ms = 5 },
		   STAGES);
	assert_int_equal(f.kind, DAVY_PROBE_TIMEOUT);
	assert_string_equal(f.stage, "wait");
	assert_int_equal(judged((struct davy_probe_end){ .signal = SIGALRM }, "").kind,
			 DAVY_PROBE_TIMEOUT);
	f = judged((struct davy_probe_end){ .exit = 127 }, STAGES);
	assert_int_equal(f.kind, DAVY_PROBE_EXITED);
	assert_int_equal(f.exit, 127);
	f = judged((struct davy_probe_end){ .overflow = true, .signal = SIGKILL }, HEALTHY);
	assert_int_equal(f.kind, DAVY_PROBE_GARBAGE);
	f = judged((struct davy_probe_end){ .timed_out = true, .stuck = true }, STAGES);
	assert_non_null(strstr(f.text, "blocked in the kernel"));
	davy_probe_not_started(-ENOENT, &f);
	assert_int_equal(f.kind, DAVY_PROBE_MISSING);
}

static void the_last_lines_of_stderr_are_reported_escaped(void **state)
{
	struct davy_probe_end end = { .signal = SIGABRT };
	struct davy_probe_finding f;
	char noise[3000];

	(void)state;
	davy_probe_judge(&end, STAGES, strlen(STAGES), "first\nwhat(): \x1b[31mlost\n\n", &f);
	assert_non_null(strstr(f.text, "its output: what(): \\x1b[31mlost"));
	memset(noise, '\x1b', sizeof(noise) - 1);
	noise[sizeof(noise) - 1] = 0;
	davy_probe_judge(&end, "", 0, noise, &f);
	assert_null(strchr(f.text, '\x1b'));
}

/* A shell script in the probe's place. */
struct played {
	sd_event *loop;
	struct davy_probe_finding finding;
	char answer[256];
	int reported;
};

static void on_finding(void *arg, const struct davy_probe_finding *finding)
{
	struct played *p = arg;

	p->reported++;
	p->finding = *finding;
	p->finding.answer = NULL;
	sd_event_exit(p->loop, 0);
}

static struct davy_probe_finding play(const char *script, uint32_t limit_ms)
{
	char path[] = "/tmp/davylamp-unit-XXXXXX";
	const char *const arguments[] = { "vulkan", NULL };
	struct played p = { 0 };
	struct davy_probe_request request = { .program = path,
					      .arguments = arguments,
					      .limit_ms = limit_ms,
					      .done = on_finding,
					      .arg = &p };
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(sd_event_new(&p.loop), 0);
	assert_int_equal(davy_probe_start(p.loop, &request), 0);
	assert_int_equal(sd_event_loop(p.loop), 0);
	assert_int_equal(p.reported, 1);
	sd_event_unref(p.loop);
	unlink(path);
	return p.finding;
}

static void the_answer_of_a_program_is_read(void **state)
{
	(void)state;
	assert_int_equal(play("echo '{\"ok\":true,\"stage\":\"done\"}'", 5000).kind,
			 DAVY_PROBE_HEALTHY);
	assert_int_equal(play("echo hello", 5000).kind, DAVY_PROBE_GARBAGE);
	assert_int_equal(play("exit 3", 5000).exit, 3);
	assert_int_equal(play("head -c 10000 /dev/urandom", 5000).kind, DAVY_PROBE_GARBAGE);
	assert_int_equal(play("kill -SEGV $$", 5000).signal, SIGSEGV);
	assert_non_null(strstr(play("seq 100000 >&2; echo last >&2; exit 1", 5000).text,
			       "its output: last"));
	assert_int_equal(
		play("[ \"$1\" = --stages ] && [ \"$2\" = vulkan ] || exit 9; exec echo x", 5000)
			.exit,
		0);
}

static void endless_output_of_a_program_is_truncated(void **state)
{
	struct davy_probe_finding f = play("exec yes", 20000);

	(void)state;
	assert_int_equal(f.kind, DAVY_PROBE_GARBAGE);
	assert_true(f.ms < 10000);
	f = play("yes >&2", 300); /* stderr is not limited: it is not kept */
	assert_int_equal(f.kind, DAVY_PROBE_TIMEOUT);
}

/* Waits until the process whose pid is in the file has ended; false after a minute. */
static bool ended(const char *pid_file)
{
	char path[64], stat[256];
	FILE *file = fopen(pid_file, "r");
	int pid = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	unlink(pid_file);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 1200; i++) {
		file = fopen(path, "r");
		if (!file || !fgets(stat, sizeof(stat), file) || strstr(stat, ") Z ")) {
			if (file)
				fclose(file);
			return true;
		}
		fclose(file);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return false;
}

static void a_hanging_program_is_killed_with_its_children(void **state)
{
	char name[64], script[512];
	struct davy_probe_finding f;

	(void)state;
	snprintf(name, sizeof(name), "/tmp/davylamp-unit-child-%d", (int)getpid());
	snprintf(script, sizeof(script),
		 "trap '' TERM; sh -c 'echo $$ >%s; exec sleep 120' & "
		 "while ! [ -s %s ]; do sleep 0.05; done; echo '{\"stage\":\"wait\"}'; "
		 "exec 1>&- 2>&-; sleep 120",
		 name, name);
	f = play(script, 3000);
	assert_int_equal(f.kind, DAVY_PROBE_TIMEOUT);
	assert_string_equal(f.stage, "wait");
	assert_true(f.ms < 60000);
	assert_true(ended(name));
	snprintf(script, sizeof(script),
		 "sh -c 'echo $$ >%s; exec sleep 120' & "
		 "while ! [ -s %s ]; do sleep 0.05; done; echo '{\"ok\":true}'",
		 name, name);
	f = play(script, 100000);
	assert_int_equal(f.kind, DAVY_PROBE_HEALTHY); /* its child is not awaited */
	assert_true(f.ms < 60000);
	assert_true(ended(name));
}

static void a_missing_program_is_an_error(void **state)
{
	const char *const arguments[] = { "vulkan", NULL };
	struct played p = { 0 };
	struct davy_probe_request request = { .program = "/nonexistent/davylamp-probe",
					      .arguments = arguments,
					      .limit_ms = 100,
					      .done = on_finding,
					      .arg = &p };

	(void)state;
	assert_int_equal(sd_event_new(&p.loop), 0);
	assert_int_equal(davy_probe_start(p.loop, &request), -ENOENT);
	assert_int_equal(p.reported, 0);
	sd_event_unref(p.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_healthy_or_has_a_reason),
		cmocka_unit_test(only_the_probes_own_words_count),
		cmocka_unit_test(nesting_without_end_is_garbage),
		cmocka_unit_test(the_exit_status_has_precedence_over_the_answer),
		cmocka_unit_test(the_last_lines_of_stderr_are_reported_escaped),
		cmocka_unit_test(the_answer_of_a_program_is_read),
		cmocka_unit_test(endless_output_of_a_program_is_truncated),
		cmocka_unit_test(a_hanging_program_is_killed_with_its_children),
		cmocka_unit_test(a_missing_program_is_an_error),
	};

	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
