/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces and the learned policy: written data reads back, torn data is reported. */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "store/learned.h"
#include "store/trace.h"

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
	static const char *const names[] = { "t.trace", "learned.conf", "cut.trace" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static void write_text(const char *name, const char *text, size_t size)
{
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

static void write_trace(size_t count)
{
	struct davy_trace_writer *w;

	snprintf(path, sizeof(path), "%s/t.trace", dir);
	assert_int_equal(davy_trace_create(path, &w), 0);
	for (size_t i = 0; i < count; i++) {
		struct davy_event ev = event(i % 3 ? DAVY_EV_THROW : DAVY_EV_TICK, (uint32_t)i);

		ev.at_ns = i;
		if (i % 3)
			snprintf(ev.thrown.type, sizeof(ev.thrown.type), "N2vk%zuE", i);
		assert_int_equal(davy_trace_write(w, &ev), 0);
	}
	assert_int_equal(davy_trace_close(w), 0);
}

static int count_trace(const char *name, size_t *ret_count)
{
	struct davy_trace_reader *r;
	struct davy_event ev;
	int more, err;

	*ret_count = 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	err = davy_trace_open(path, &r);
	if (err)
		return err;
	while ((more = davy_trace_next(r, &ev)) > 0) {
		assert_int_equal(ev.at_ns, *ret_count);
		(*ret_count)++;
	}
	davy_trace_reader_free(r);
	return more;
}

static void a_trace_reads_back_as_written(void **state)
{
	size_t count;

	(void)state;
	write_trace(20000);
	assert_int_equal(count_trace("t.trace", &count), 0);
	assert_int_equal(count, 20000);
}

static void an_empty_trace_is_whole(void **state)
{
	size_t count;

	(void)state;
	write_trace(0);
	assert_int_equal(count_trace("t.trace", &count), 0);
	assert_int_equal(count, 0);
}

static void a_trace_truncated_anywhere_keeps_its_complete_part(void **state)
{
	static char whole[256 * 1024];
	struct stat st;
	size_t count, size;
	int fd;

	(void)state;
	write_trace(3000);
	assert_int_equal(stat(path, &st), 0);
	fd = open(path, O_RDONLY);
	size = (size_t)read(fd, whole, sizeof(whole));
	close(fd);
	assert_int_equal(size, st.st_size);
	for (size_t cut = 16; cut < size; cut += 97) {
		write_text("cut.trace", whole, cut);
		assert_int_equal(count_trace("cut.trace", &count), cut == 16 ? 0 : -EBADMSG);
		assert_true(count < 3000);
	}
	for (size_t cut = 0; cut < 16; cut++) {
		write_text("cut.trace", whole, cut);
		assert_int_equal(count_trace("cut.trace", &count), -EINVAL);
	}
}

static void damage_costs_no_complete_block_before_it(void **state)
{
	static char whole[2 << 20];
	struct davy_trace_writer *w;
	size_t count, size;
	struct stat st;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/t.trace", dir);
	assert_int_equal(davy_trace_create(path, &w), 0);
	for (size_t i = 0; i < 20; i++) { /* each part of them ends with a block */
		struct davy_event ev = event(DAVY_EV_TICK, 0);

		for (size_t k = 0; k < 300; k++) {
			ev.at_ns = i * 300 + k;
			assert_int_equal(davy_trace_write(w, &ev), 0);
		}
		assert_int_equal(davy_trace_flush(w), 0);
	}
	assert_int_equal(stat(path, &st), 0);
	fd = open(path, O_RDONLY);
	size = (size_t)read(fd, whole, sizeof(whole));
	close(fd);
	assert_int_equal(davy_trace_close(w), 0);
	memset(whole + size - 20, 0xff, 20); /* of the last part alone */
	write_text("cut.trace", whole, size);
	assert_int_equal(count_trace("cut.trace", &count), -EBADMSG);
	assert_true(count >= 19 * 300);
}

#define RECORDED 600
#define STEP_NS	 (50 * 1000000ULL)

/* 30 s of events, flushed every second: three frames. */
static size_t write_long_trace(char *whole, size_t max)
{
	struct davy_trace_writer *w;
	size_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/t.trace", dir);
	assert_int_equal(davy_trace_create(path, &w), 0);
	for (size_t i = 0; i < RECORDED; i++) {
		struct davy_event ev = event(i % 3 ? DAVY_EV_THROW : DAVY_EV_TICK, (uint32_t)i);

		ev.at_ns = i * STEP_NS;
		if (i % 3)
			snprintf(ev.thrown.type, sizeof(ev.thrown.type), "N2vk%zuE", i * 7919);
		assert_int_equal(davy_trace_write(w, &ev), 0);
		if (i % 20 == 19)
			assert_int_equal(davy_trace_flush(w), 0);
	}
	assert_int_equal(davy_trace_close(w), 0);
	fd = open(path, O_RDONLY);
	size = (size_t)read(fd, whole, max);
	close(fd);
	return size;
}

/* The last result of davy_trace_next; *ret_count: the number of events that are unchanged. */
static int read_long_trace(size_t *ret_count, bool *ret_altered)
{
	struct davy_trace_reader *r;
	struct davy_event ev;
	char type[DAVY_TYPE_NAME_LEN];
	int more;

	*ret_count = 0;
	*ret_altered = false;
	assert_int_equal(davy_trace_open(path, &r), 0);
	while ((more = davy_trace_next(r, &ev)) > 0) {
		size_t i = *ret_count;

		snprintf(type, sizeof(type), "N2vk%zuE", i * 7919);
		if (ev.at_ns != i * STEP_NS || ev.pid != i ||
		    ev.kind != (i % 3 ? DAVY_EV_THROW : DAVY_EV_TICK) ||
		    (i % 3 && strcmp(ev.thrown.type, type) != 0))
			*ret_altered = true;
		*ret_count += !*ret_altered;
	}
	davy_trace_reader_free(r);
	return more;
}

static void a_flipped_bit_is_an_error_and_earlier_blocks_are_kept(void **state)
{
	static char whole[64 * 1024];
	static const uint32_t frame_magic = 0xfd2fb528;
	size_t size = write_long_trace(whole, sizeof(whole)), count, frame[8], frames = 0;
	bool altered;

	(void)state;
	for (size_t i = 16; i + 4 < size; i++)
		if (!memcmp(whole + i, &frame_magic, 4) && frames < 8)
			frame[frames++] = i;
	assert_int_equal(frames, 3);
	snprintf(path, sizeof(path), "%s/cut.trace", dir);
	for (size_t at = 16; at < size; at++) {
		int more;

		whole[at] ^= (char)(1 << at % 8);
		write_text("cut.trace", whole, size);
		whole[at] ^= (char)(1 << at % 8);
		more = read_long_trace(&count, &altered);
		if (!more) /* a bit that means nothing */
			assert_true(count == RECORDED && !altered);
		else
			assert_int_equal(more, -EBADMSG);
		assert_true(at < frame[1] || count >= 200);
		assert_true(at < frame[2] || count >= 400);
	}
}

static void a_flushed_trace_survives_its_writer(void **state)
{
	struct davy_trace_writer *w;
	struct davy_event ev = event(DAVY_EV_TICK, 0);
	size_t count;

	(void)state;
	snprintf(path, sizeof(path), "%s/t.trace", dir);
	assert_int_equal(davy_trace_create(path, &w), 0);
	for (ev.at_ns = 0; ev.at_ns < 100; ev.at_ns++)
		assert_int_equal(davy_trace_write(w, &ev), 0);
	assert_int_equal(davy_trace_flush(w), 0);
	assert_int_equal(count_trace("t.trace", &count), -EBADMSG); /* not ended, yet all there */
	assert_int_equal(count, 100);
	assert_int_equal(davy_trace_close(w), 0);
}

struct raw_record {
	uint16_t kind, size;
	uint32_t pid;
	uint64_t at_ns;
	char payload[256];
};

static size_t put_record(char *at, const struct raw_record *r)
{
	memcpy(at, r, 16);
	memcpy(at + 16, r->payload, r->size < 256 ? r->size : 256);
	return 16u + r->size;
}

static void write_records(const struct raw_record *records, size_t count)
{
	static char plain[1 << 17];
	char file[4096] = "DLTRACE\0\2";
	size_t used = 0, size;

	memset(plain, 0, sizeof(plain));
	for (size_t i = 0; i < count; i++)
		used += put_record(plain + used, &records[i]);
	size = ZSTD_compress(file + 16, sizeof(file) - 16, plain, used, 1);
	assert_false(ZSTD_isError(size));
	write_text("t.trace", file, 16 + size);
}

/* Fields and kinds that one of the two programs does not have. */
static void traces_of_older_and_newer_programs_are_read(void **state)
{
	const uint16_t whole = (uint16_t)davy_event_payload_size(DAVY_EV_THROW);
	const struct raw_record records[] = {
		{ DAVY_EV_THROW, whole, 5, 0, "N2vk1E" },
		{ DAVY_EV_THROW, 8, 5, 1, "N2vk1E" },
		{ 60000, 100, 5, 2, "a kind to come" },
		{ DAVY_EV_THROW, (uint16_t)(whole + 64), 5, 3, "N2vk1E" },
		{ DAVY_EV_TICK, 0, 0, 4, "" },
	};
	struct raw_record large = { DAVY_EV_TICK, 9000, 0, 0, "" };
	struct davy_trace_reader *r;
	struct davy_event ev;
	size_t count = 0;

	(void)state;
	write_records(records, 5);
	assert_int_equal(davy_trace_open(path, &r), 0);
	while (davy_trace_next(r, &ev) > 0) {
		assert_int_equal(ev.at_ns, count < 2 ? count : count + 1);
		if (ev.kind == DAVY_EV_THROW)
			assert_string_equal(ev.thrown.type, "N2vk1E");
		count++;
	}
	assert_int_equal(count, 4);
	assert_int_equal(davy_trace_skipped(r), 1);
	davy_trace_reader_free(r);

	write_records(&large, 1);
	assert_int_equal(davy_trace_open(path, &r), 0);
	assert_int_equal(davy_trace_next(r, &ev), -EBADMSG);
	davy_trace_reader_free(r);
}

static void a_newer_trace_is_recognised(void **state)
{
	static const char newer[16] = { 'D', 'L', 'T', 'R', 'A', 'C', 'E', 0, 3 };
	size_t count;

	(void)state;
	write_text("t.trace", newer, sizeof(newer));
	assert_int_equal(count_trace("t.trace", &count), -EPROTONOSUPPORT);
}

static void a_full_disk_is_an_error_of_the_writer(void **state)
{
	struct davy_trace_writer *w;

	(void)state;
	assert_int_equal(davy_trace_create("/dev/full", &w), -ENOSPC);
}

static void a_disk_that_fills_up_leaves_whole_frames(void **state)
{
	struct davy_trace_writer *w;
	struct rlimit old, full;
	struct stat st;
	struct davy_trace_reader *r;
	struct davy_event ev = event(DAVY_EV_TICK, 0);
	size_t count = 0;
	int err = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/t.trace", dir);
	assert_int_equal(davy_trace_create(path, &w), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	full = old;
	for (uint64_t second = 0; !err; second++) {
		if (second == 25) { /* two frames are whole; in the third the disk is full */
			assert_int_equal(stat(path, &st), 0);
			full.rlim_cur = (rlim_t)st.st_size + 3;
			setrlimit(RLIMIT_FSIZE, &full);
		}
		ev.at_ns = second * DAVY_NS_PER_S;
		err = davy_trace_write(w, &ev);
		if (!err)
			err = davy_trace_flush(w);
	}
	assert_int_equal(err, -EFBIG);
	assert_int_equal(davy_trace_close(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(davy_trace_open(path, &r), 0);
	while ((err = davy_trace_next(r, &ev)) > 0)
		count++;
	davy_trace_reader_free(r);
	assert_int_equal(err, 0);
	assert_int_equal(count, 22);
}

static void the_learned_policy_is_read_back(void **state)
{
	struct davy_learned l = { 0 }, back;
	struct davy_learned_entry *e;
	int line;

	(void)state;
	assert_int_equal(davy_learned_load(dir, &back, &line), 0);
	assert_int_equal(back.count, 0);
	e = davy_learned_get(&l, GPU, DAVY_BACKEND_VULKAN, "a model; with = signs");
	e->state = DAVY_BREAKER_OPEN;
	e->until_s = 2000;
	e->open_count = 3;
	davy_copy_name(e->reason, sizeof(e->reason), "because ; of\nnewlines \x1b[31m");
	assert_int_equal(davy_learned_save(dir, &l), 0);
	assert_int_equal(l.version, 1);
	assert_int_equal(davy_learned_load(dir, &back, &line), 0);
	assert_int_equal(back.count, 1);
	assert_int_equal(back.version, 1);
	assert_string_equal(back.entry[0].device, GPU);
	assert_int_equal(back.entry[0].open_count, 3);
	assert_string_equal(back.entry[0].reason, "because , of\\x0anewlines \\x1b[31m");
}

static void a_breaker_excludes_a_start_only_while_open(void **state)
{
	struct davy_learned l = { 0 };
	struct davy_learned_entry *e = davy_learned_get(&l, GPU, DAVY_BACKEND_VULKAN, "m");

	(void)state;
	e->state = DAVY_BREAKER_OPEN;
	e->until_s = 100;
	assert_ptr_equal(davy_learned_against(&l, DAVY_BACKEND_VULKAN, "m", 99), e);
	assert_null(davy_learned_against(&l, DAVY_BACKEND_VULKAN, "m", 100));
	assert_null(davy_learned_against(&l, DAVY_BACKEND_ROCM, "m", 99));
	assert_null(davy_learned_against(&l, DAVY_BACKEND_VULKAN, "n", 99));
	e->state = DAVY_BREAKER_HALF_OPEN;
	assert_null(davy_learned_against(&l, DAVY_BACKEND_VULKAN, "m", 99));
}

static void a_wrong_line_is_named_and_rejects_the_file(void **state)
{
	static const char *const wrong[] = {
		"version = 1\n[breaker 1]\nstate = ajar\n",
		"version = 1\n[breaker 1]\nuntil = soon\n",
		"version = 1\n[breaker 1]\nuntil = -5\n",
		"version = 1\n[fuse 1]\nstate = open\n",
		"version = 1\nnot a line\n",
	};
	struct davy_learned l;
	int line;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		l.count = 77;
		write_text("learned.conf", wrong[i], strlen(wrong[i]));
		assert_int_equal(davy_learned_load(dir, &l, &line), -EBADMSG);
		assert_int_equal(line, i == 4 ? 2 : 3);
		assert_int_equal(l.count, 77);
	}
}

static void a_full_disk_leaves_the_old_policy(void **state)
{
	struct davy_learned l = { 0 }, back;
	struct rlimit old, none = { 16, 0 };
	int line;

	(void)state;
	davy_learned_get(&l, GPU, DAVY_BACKEND_VULKAN, "m")->state = DAVY_BREAKER_OPEN;
	assert_int_equal(davy_learned_save(dir, &l), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	none.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	davy_learned_get(&l, GPU, DAVY_BACKEND_VULKAN, "m")->state = DAVY_BREAKER_CLOSED;
	assert_int_equal(davy_learned_save(dir, &l), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(l.version, 1);
	assert_int_equal(davy_learned_load(dir, &back, &line), 0);
	assert_int_equal(back.entry[0].state, DAVY_BREAKER_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_reads_back_as_written),
		cmocka_unit_test(an_empty_trace_is_whole),
		cmocka_unit_test(a_trace_truncated_anywhere_keeps_its_complete_part),
		cmocka_unit_test(damage_costs_no_complete_block_before_it),
		cmocka_unit_test(a_flipped_bit_is_an_error_and_earlier_blocks_are_kept),
		cmocka_unit_test(a_flushed_trace_survives_its_writer),
		cmocka_unit_test(traces_of_older_and_newer_programs_are_read),
		cmocka_unit_test(a_newer_trace_is_recognised),
		cmocka_unit_test(a_full_disk_is_an_error_of_the_writer),
		cmocka_unit_test(a_disk_that_fills_up_leaves_whole_frames),
		cmocka_unit_test(the_learned_policy_is_read_back),
		cmocka_unit_test(a_breaker_excludes_a_start_only_while_open),
		cmocka_unit_test(a_wrong_line_is_named_and_rejects_the_file),
		cmocka_unit_test(a_full_disk_leaves_the_old_policy),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
