/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of predictions over all starts: stored completely, or not at all. */
#include "history.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "core/world/emit.h"
#include "store/counts.h"

static char dir[] = "/tmp/davylamp-unit-XXXXXX";
static char path[128];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/davylamp-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "rm -rf '%s'", dir);
	return system(path); /* the test's own folder */
}

static void write_text(const char *text, size_t size)
{
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, DAVY_COUNTS_OLD_NAME);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

/* A job that is seen at three quarters of its timeout, and times out 1 s later. */
static void one_foreseen_failure(void)
{
	struct davy_event ev;

	begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	ev = event(DAVY_EV_RING, 60);
	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), "gfx_0.0.0");
	ev.ring.age_ns = 3 * S;
	ev.ring.timeout_ns = 4 * S;
	ev.ring.fence_seqno = 1;
	tell(&ev);
	now += S;
	ev = event(DAVY_EV_JOB_TIMEOUT, 60);
	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), "gfx_0.0.0");
	ev.job_timeout.fence_seqno = 1;
	tell(&ev);
	pass(20 * S);
}

static void two_starts_are_counted_together(void **state)
{
	struct davy_counts first = { .since_s = 1700000000 }, back, both;
	const struct davy_class_score *class = &both.seen.class[DAVY_CLASS_RING_TIMEOUT];

	(void)state;
	one_foreseen_failure();
	davy_foresight_add(&first.seen, &core.foresight);
	assert_int_equal(first.seen.class[DAVY_CLASS_RING_TIMEOUT].lead_time.count, 1);
	assert_int_equal(davy_counts_save(dir, &first), 0);
	memset(&back, 0x55, sizeof(back));
	assert_int_equal(davy_counts_load(dir, &back), 0);
	assert_memory_equal(&back, &first, sizeof(first)); /* and no sign or episode with them */
	assert_int_equal(back.seen.calibration.of[DAVY_HZ_JOB_STALL][1].confirmed, 1);
	both = back;
	one_foreseen_failure();
	davy_foresight_add(&both.seen, &core.foresight);
	assert_int_equal(class->failures, 2);
	assert_int_equal(class->missed, 0);
	assert_int_equal(class->lead_time.count, 2);
	assert_int_equal(class->lead_time.sum_ns, 2 * S);
	assert_int_equal(both.seen.hazard[DAVY_HZ_JOB_STALL].confirmed, 2);
	assert_int_equal(both.since_s, 1700000000);
}

/* As davylamp wrote it before it scored probabilities. */
static void a_database_without_scores_is_read(void **state)
{
	struct davy_counts first = { .since_s = 5 }, back;

	(void)state;
	one_foreseen_failure();
	davy_foresight_add(&first.seen, &core.foresight);
	memset(&first.seen.calibration, 0, sizeof(first.seen.calibration));
	assert_int_equal(davy_counts_save(dir, &first), 0);
	memset(&back, 0x55, sizeof(back));
	assert_int_equal(davy_counts_load(dir, &back), 0);
	assert_int_equal(back.seen.hazard[DAVY_HZ_JOB_STALL].confirmed, 1);
	assert_int_equal(back.seen.calibration.of[DAVY_HZ_JOB_STALL][1].alarms, 0);
	assert_int_equal(back.seen.calibration.error_sum, 0);
}

static void the_core_learns_the_scores_of_earlier_starts(void **state)
{
	static struct davy_agent a;
	const struct davy_step s = { .core = &a.core };
	struct davy_counts first = { .since_s = 5 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		one_foreseen_failure();
		davy_foresight_add(&first.seen, &core.foresight);
	}
	assert_int_equal(davy_counts_save(dir, &first), 0);
	memset(&a, 0, sizeof(a));
	davy_core_init(&a.core);
	a.options.state_dir = dir;
	davy_agent_counts_open(&a);
	assert_int_equal(a.core.foresight.earlier[DAVY_HZ_JOB_STALL][1].alarms, 3);
	assert_int_equal(a.core.foresight.earlier[DAVY_HZ_JOB_STALL][1].confirmed, 3);
	assert_int_equal(davy_foresight_probability(&s, DAVY_HZ_JOB_STALL, 3), 1000 * 9 / 10);
	assert_int_equal(davy_agent_counts(&a).seen.calibration.of[DAVY_HZ_JOB_STALL][1].alarms, 3);
	assert_int_equal(a.event_count, 1); /* no other level is scored */
}

static void without_a_file_nothing_was_counted(void **state)
{
	struct davy_counts counts;

	(void)state;
	memset(&counts, 0x55, sizeof(counts));
	assert_int_equal(davy_counts_load(dir, &counts), 0);
	assert_int_equal(counts.since_s, 0);
	assert_int_equal(counts.seen.class[DAVY_CLASS_RING_TIMEOUT].failures, 0);
	assert_int_equal(davy_counts_load("/proc/none/at/all", &counts), 0);
	assert_true(davy_counts_save("/proc/none/at/all", &counts) < 0);
}

#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define CLASS(text)                                                                                \
	"{\"format\":1,\"since\":5,\"classes\":{\"ring_timeout\":" text "},\"hazards\":{}}"
#define LEAD(text) CLASS("{\"failures\":1,\"missed\":0,\"lead\":{" text "}}")
#define HAZARD(text)                                                                               \
	"{\"format\":1,\"since\":5,\"classes\":{},\"hazards\":{\"reset\":{" text ",\"averted\":0," \
	"\"late\":0,\"false_alarms\":0}}}"

#define SCORED(alarms, confirmed, level, in_bin, confirmed_in_bin, stated, errors)                 \
	"{\"format\":1,\"since\":5,\"classes\":{},\"hazards\":{\"reset\":{\"level" level           \
	"\":{\"alarms\":" alarms ",\"confirmed\":" confirmed                                       \
	"}}},\"reliability\":{\"error_sum\":" errors ",\"bins\":[{\"alarms\":" in_bin              \
	",\"confirmed\":" confirmed_in_bin ",\"stated\":" stated "}]}}"

static void inconsistent_counters_are_refused(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} files[] = {
		{ CLASS("{\"failures\":3,\"missed\":3}"), true },
		{ LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":7,\"max_ns\":7,\"slots\":[1," ZEROS
		       "]"),
		  true },
		{ HAZARD("\"signs\":2,\"confirmed\":1"), true },
		{ SCORED("2", "1", "3", "2", "1", "1900", "640000"), true },
		{ SCORED("2", "3", "3", "2", "3", "1900", "640000"), false },
		{ SCORED("2", "1", "3", "1", "1", "900", "640000"), false },
		{ SCORED("2", "1", "3", "2", "0", "1900", "640000"), false },
		{ SCORED("2", "1", "3", "2", "1", "1999", "640000"), false },
		{ SCORED("2", "1", "3", "2", "1", "1900", "2000000"), false },
		{ SCORED("2", "1", "4", "2", "1", "1900", "640000"), false },
		{ "", false },
		{ "[]", false },
		{ "{\"format\":2,\"since\":5,\"classes\":{},\"hazards\":{}}", false },
		{ "{\"format\":1,\"since\":-5,\"classes\":{},\"hazards\":{}}", false },
		{ "{\"format\":1,\"since\":5,\"classes\":[],\"hazards\":{}}",
		  true }, /* no number is lost, here and in the next two */
		{ "{\"format\":1,\"since\":5,\"since\":6,\"classes\":{},\"hazards\":{}}", false },
		{ "{\"format\":1,\"since\":5,\"classes\":{},\"hazards\":{\"x\":{}}}", true },
		{ "{\"format\":1,\"since\":5,\"classes\":{},\"hazards\":{\"x\":{\"signs\":0}}}",
		  false },
		{ "{\"format\":1,\"since\":5,\"classes\":{\"\\u001b[31m\":{}},\"hazards\":{}}",
		  true },
		{ CLASS("7"), false },
		{ CLASS("{\"failures\":3,\"missed\":2}"), false },
		{ CLASS("{\"failures\":-1,\"missed\":-1}"), false },
		{ CLASS("{\"failures\":1e3,\"missed\":1000}"), false },
		{ CLASS("{\"failures\":9223372036854775807,\"missed\":9223372036854775807}"),
		  false },
		{ CLASS("{\"failures\":99999999999999999999,\"missed\":0}"), false },
		{ LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":7,\"max_ns\":7,\"slots\":[2]"), false },
		{ LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":7,\"max_ns\":7,\"slots\":[2," ZEROS
		       "]"),
		  false },
		{ LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":8,\"max_ns\":8,\"slots\":[1," ZEROS
		       "]"),
		  false },
		{ LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":7,\"max_ns\":7,\"slots\":[-1," ZEROS
		       "]"),
		  false },
		{ HAZARD("\"signs\":0,\"confirmed\":1"), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct davy_counts counts = { .since_s = 77 };
		int err = davy_counts_parse(&counts, files[i].text);

		if (err != (files[i].good ? 0 : -EBADMSG))
			fail_msg("%s: %d", files[i].text, err);
		assert_int_equal(counts.since_s, files[i].good ? 5 : 77);
	}
}

static void a_refused_file_is_put_aside(void **state)
{
	struct davy_counts counts = { .since_s = 5 };
	struct stat st;

	(void)state;
	write_text("{", 1);
	assert_int_equal(davy_counts_load(dir, &counts), -EUCLEAN);
	assert_int_equal(davy_counts_load(dir, &counts), 0);
	snprintf(path, sizeof(path), "%s/%s.bad", dir, DAVY_COUNTS_OLD_NAME);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 1);
}

static void counters_of_an_older_davylamp_are_imported_once(void **state)
{
	static const char text[] =
		LEAD("\"count\":1,\"sum_ns\":7,\"min_ns\":7,\"max_ns\":7,\"slots\":[1," ZEROS "]");
	const struct davy_class_score *class;
	struct davy_counts counts;

	(void)state;
	class = &counts.seen.class[DAVY_CLASS_RING_TIMEOUT];
	write_text(text, strlen(text));
	for (uint64_t sum = 7; sum < 9; sum++) {
		assert_int_equal(davy_counts_load(dir, &counts), 0);
		assert_int_equal(counts.since_s, 5);
		assert_int_equal(class->lead_time.slot[0], 1);
		assert_int_equal(class->lead_time.sum_ns, sum);
		counts.seen.class[DAVY_CLASS_RING_TIMEOUT].lead_time.sum_ns = sum + 1;
		counts.seen.class[DAVY_CLASS_RING_TIMEOUT].lead_time.max_ns = sum + 1;
		assert_int_equal(davy_counts_save(dir, &counts), 0);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, DAVY_COUNTS_OLD_NAME);
	assert_int_not_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/%s.imported", dir, DAVY_COUNTS_OLD_NAME);
	assert_int_equal(access(path, F_OK), 0);
}

static void a_full_disk_leaves_the_old_counts(void **state)
{
	struct davy_counts counts = { .since_s = 5 }, back;
	struct rlimit old, none = { 16, 0 };

	(void)state;
	assert_int_equal(davy_counts_save(dir, &counts), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	none.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	counts.since_s = 6;
	assert_true(davy_counts_save(dir, &counts) < 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(davy_counts_load(dir, &back), 0);
	assert_int_equal(back.since_s, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_starts_are_counted_together),
		cmocka_unit_test(a_database_without_scores_is_read),
		cmocka_unit_test(the_core_learns_the_scores_of_earlier_starts),
		cmocka_unit_test(without_a_file_nothing_was_counted),
		cmocka_unit_test(inconsistent_counters_are_refused),
		cmocka_unit_test(a_refused_file_is_put_aside),
		cmocka_unit_test(counters_of_an_older_davylamp_are_imported_once),
		cmocka_unit_test(a_full_disk_leaves_the_old_counts),
	};
	struct CMUnitTest with_dir[sizeof(tests) / sizeof(tests[0])];

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		with_dir[i] = tests[i];
		with_dir[i].setup_func = make_dir;
		with_dir[i].teardown_func = remove_dir;
	}
	return cmocka_run_group_tests(with_dir, NULL, NULL);
}
