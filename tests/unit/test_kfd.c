/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD: its SMI events in the format of every kernel, with any process name; descriptors
 * and the child that opens them; topology and processes from test trees.
 */
#include "history.h"
#include "root.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sensors/kfd/kfd_opener.h"
#include "sensors/kfd/kfd_reader.h"
#include "sensors/kfd/kfd_smi.h"
#include "sensors/kfd/kfd_topology.h"
#include "sensors/kfd/kfd_use.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"
#define PROC  "/sys/class/kfd/kfd/proc/"
#define NS    81985529216486895 /* any time */

static struct davy_kfd_said parsed(const char *line)
{
	struct davy_kfd_said said;

	assert_int_equal(davy_kfd_smi_parse(line, strlen(line), &said), 0);
	assert_int_equal(said.kfd.device[0], 0);
	return said;
}

static void refused(const char *line)
{
	struct davy_kfd_said said;

	memset(&said, 0x55, sizeof(said));
	assert_int_equal(davy_kfd_smi_parse(line, strlen(line), &said), -EBADMSG);
	assert_int_equal(said.pid, 0x55555555);
}

static void queues_stop_and_run_again_on_every_kernel(void **state)
{
	struct davy_kfd_said s = parsed("9 81985529216486895 -4711 10e1 2");

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_QUEUES_EVICTED);
	assert_int_equal(s.kfd.driver_ns, NS);
	assert_int_equal(s.pid, 4711);
	assert_false(s.thread);
	assert_int_equal(s.kfd.trigger, 2);
	s = parsed("a 81985529216486895 -4711 10e1"); /* 6.1 */
	assert_int_equal(s.kfd.event, DAVY_KFD_QUEUES_RESTORED);
	assert_int_equal(s.kfd.flags, 0);
	s = parsed("a 81985529216486895 -4711 10e1 R"); /* 6.1: tried again; later kernels too */
	assert_int_equal(s.kfd.flags, DAVY_KFD_RESCHEDULED);
	s = parsed("a 81985529216486895 -4711 10e1 0"); /* 6.12, 7.2 */
	assert_int_equal(s.kfd.flags, 0);
	refused("a 81985529216486895 -4711 10e1 ");
	refused("a 81985529216486895 -4711 10e1 X");
	refused("a 81985529216486895 -4711 10e1 RR");
	refused("9 81985529216486895 -4711 10e1");
	refused("9 81985529216486895 -4711 10e1 -1");
}

static void a_reset_has_its_cause_if_one_is_given(void **state)
{
	struct davy_kfd_said s = parsed("3 1f"); /* 6.1 */

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_RESET_BEGIN);
	assert_string_equal(s.kfd.detail, "");
	s = parsed("4 1f");
	assert_int_equal(s.kfd.event, DAVY_KFD_RESET_END);
	s = parsed("3 1 job hang on ring:comp_1.0.0");
	assert_string_equal(s.kfd.detail, "job hang on ring:comp_1.0.0");
	s = parsed("3 ffffffff user queue trigger");
	assert_string_equal(s.kfd.detail, "user queue trigger");
	s = parsed("4 2 "); /* the cause is empty, the blank before it is there */
	assert_string_equal(s.kfd.detail, "");
	assert_int_equal(s.pid, 0);
	s = parsed("3 1 "
		   "0123456789012345678901234567890123456789012345678901234567890ab");
	assert_int_equal(strlen(s.kfd.detail), DAVY_DETAIL_LEN - 1);
	refused("3 1 0123456789012345678901234567890123456789012345678901234567890abc");
	refused("3");
	refused("3 ");
	refused("3 g");
	refused("3 1x");
}

static void faults_and_throttling_are_read(void **state)
{
	struct davy_kfd_said s = parsed("1 1267:llama-server");

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_VM_FAULT);
	assert_int_equal(s.pid, 0x1267);
	assert_true(s.thread);
	assert_string_equal(s.kfd.detail, "llama-server");
	s = parsed("2 10:0");
	assert_int_equal(s.kfd.event, DAVY_KFD_THERMAL_THROTTLE);
	assert_int_equal(s.kfd.mask, 0x10);
	s = parsed("2 ffffffffffffffff:ffffffffffffffff");
	assert_true(s.kfd.mask == UINT64_MAX);
	refused("2 10000000000000000:0");
	refused("2 10");
	refused("2 10:");
	refused("2 10:0 ");
}

static void shared_memory_that_moves_is_in_bytes(void **state)
{
	struct davy_kfd_said s = parsed("5 1000 -173 @7f1234567(10) 0->10e1 0:10e1 1");

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_MIGRATE_BEGIN);
	assert_int_equal(s.kfd.driver_ns, 1000);
	assert_int_equal(s.pid, 173);
	assert_int_equal(s.kfd.addr, 0x7f1234567000);
	assert_int_equal(s.kfd.bytes, 0x10000);
	assert_int_equal(s.kfd.from, 0);
	assert_int_equal(s.kfd.to, 0x10e1);
	assert_int_equal(s.kfd.trigger, 1);
	s = parsed("6 1000 -173 @7f1234567(10) 10e1->0 3"); /* 6.1, 6.12 */
	assert_int_equal(s.kfd.event, DAVY_KFD_MIGRATE_END);
	assert_int_equal(s.kfd.from, 0x10e1);
	assert_int_equal(s.kfd.trigger, 3);
	assert_int_equal(s.kfd.error, 0);
	s = parsed("6 1000 -173 @7f1234567(10) 10e1->0 2 -12"); /* 7.2 */
	assert_int_equal(s.kfd.error, -12);
	s = parsed("6 1000 -173 @7f1234567(10) 10e1->0 2 0");
	assert_int_equal(s.kfd.error, 0);
	s = parsed("b 1000 -173 @1000(1001) 10e1 2");
	assert_int_equal(s.kfd.event, DAVY_KFD_UNMAPPED);
	assert_int_equal(s.kfd.addr, 0x1000000);
	assert_int_equal(s.kfd.bytes, 0x1001000);
	assert_int_equal(s.kfd.trigger, 2);
	refused("6 1000 -173 @7f1234567(10) 10e1->0 2 ");
	refused("6 1000 -173 @7f1234567(10) 10e1->0 2 --1");
	refused("6 1000 -173 @7f1234567(10) 10e1->0 2 2147483648");
	refused("5 1000 -173 @7f1234567(10) 0->10e1 0:10e1");
	refused("5 1000 -173 @7f1234567(10) 0->10e1 0 1");
}

static void page_faults_have_kind_of_start_and_end(void **state)
{
	struct davy_kfd_said s = parsed("7 1000 -173 @7f1234567(10e1) W");

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_PAGE_FAULT_BEGIN);
	assert_int_equal(s.kfd.flags, DAVY_KFD_WRITE);
	assert_int_equal(s.kfd.addr, 0x7f1234567000);
	assert_int_equal(s.kfd.bytes, 0);
	assert_int_equal(parsed("7 1000 -173 @7f1234567(10e1) R").kfd.flags, 0);
	assert_int_equal(parsed("8 1000 -173 @7f1234567(10e1) M").kfd.flags, DAVY_KFD_MIGRATED);
	assert_int_equal(parsed("8 1000 -0 @7f1234567(10e1) U").kfd.flags, 0);
	refused("7 1000 -173 @7f1234567(10e1) M");
	refused("8 1000 -173 @7f1234567(10e1) W");
	refused("7 1000 -173 @7f1234567(10e1)");
}

static void processes_begin_and_end(void **state)
{
	struct davy_kfd_said s = parsed("c 1267 my engine");

	(void)state;
	assert_int_equal(s.kfd.event, DAVY_KFD_PROCESS_BEGIN);
	assert_int_equal(s.pid, 0x1267);
	assert_true(s.thread);
	assert_string_equal(s.kfd.detail, "my engine");
	s = parsed("d 1267 ");
	assert_int_equal(s.kfd.event, DAVY_KFD_PROCESS_END);
	assert_string_equal(s.kfd.detail, "");
	refused("c 1267");
	refused("c 80000000 x");
}

static void numbers_have_their_limits(void **state)
{
	struct davy_kfd_said s =
		parsed("b 1 -2147483647 @fffffffffffff(fffffffffffff) 0 2147483647");

	(void)state;
	assert_true(s.kfd.addr == UINT64_MAX - 4095);
	assert_int_equal(s.pid, INT32_MAX);
	refused("b 1 -1 @10000000000000(1) 0 0"); /* pages that are no bytes any more */
	refused("b 1 -1 @1(10000000000000) 0 0");
	refused("9 1 -2147483648 1 0");
	refused("9 1 --1 1 0");
	refused("9 9223372036854775808 -1 1 0");
	refused("9 99999999999999999999999999 -1 1 0");
	refused("5 1 -1 @1(1) 100000000->1 0:0 1");
}

static void unknown_lines_are_refused(void **state)
{
	static const char with_nul[] = "1 1:a\0b";
	struct davy_kfd_said said;

	(void)state;
	refused("");
	refused(" ");
	refused("0 1");
	refused("e 1 x"); /* the next number, which is unused */
	refused("f 1");
	refused("10 1");
	refused("ffffffffffffffff 1");
	refused("-1 1");
	refused("A 81985529216486895 -4711 10e1");
	refused("9 0x10 -1 1 0");
	refused("9  1 -1 1 0");
	refused("9 1 1 1 0");
	refused("9\t1 -1 1 0");
	refused("garbage \x1b[2J\xff\xfe");
	refused("1 1:a-name-of-16-byte");
	assert_int_equal(davy_kfd_smi_parse(with_nul, sizeof(with_nul) - 1, &said), -EBADMSG);
}

/* Each line cut at each place: never understood as another, never read past its end. */
static void an_incomplete_line_is_ignored(void **state)
{
	static const char *const lines[] = {
		"2 10:0",
		"5 1000 -173 @7f1234567(10) 0->10e1 0:10e1 1",
		"7 1000 -173 @7f1234567(10e1) W",
		"9 81985529216486895 -4711 10e1 2",
	};
	struct davy_kfd_said said;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (size_t len = 0; len < strlen(lines[i]); len++) {
			char *copy = malloc(len + !len); /* its end is watched */

			memcpy(copy, lines[i], len);
			assert_int_equal(davy_kfd_smi_parse(copy, len, &said), -EBADMSG);
			free(copy);
		}
}

struct heard {
	struct davy_kfd_said said[64];
	size_t count;
	uint64_t lost;
	char reason[DAVY_REASON_LEN];
};

static void on_said(void *arg, const struct davy_kfd_said *said)
{
	struct heard *h = arg;

	h->said[h->count++ % 64] = *said;
}

static void on_lost(void *arg, uint64_t count, const char *reason)
{
	struct heard *h = arg;

	h->lost += count;
	davy_copy_name(h->reason, sizeof(h->reason), reason);
}

static void feed(struct davy_kfd_smi *s, struct heard *h, const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	memcpy(copy, text, strlen(text));
	davy_kfd_smi_feed(s, copy, strlen(text), on_said, h);
	free(copy);
}

static void a_line_may_come_in_pieces(void **state)
{
	static const char text[] = "9 1000 -5 10e1 2\na 2000 -5 10e1 0\n3 1 HWS hang\n";

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct davy_kfd_smi s = { 0 };
		struct heard h = { 0 };

		davy_kfd_smi_feed(&s, text, cut, on_said, &h);
		davy_kfd_smi_feed(&s, text + cut, sizeof(text) - 1 - cut, on_said, &h);
		assert_int_equal(h.count, 3);
		assert_int_equal(h.said[1].kfd.driver_ns, 2000);
		assert_string_equal(h.said[2].kfd.detail, "HWS hang");
		assert_int_equal(s.refused_count, 0);
		assert_int_equal(s.rest_len, 0);
	}
}

static void an_endless_line_costs_no_other_line(void **state)
{
	struct davy_kfd_smi s = { 0 };
	struct heard h = { 0 };
	char junk[5000];

	(void)state;
	memset(junk, '7', sizeof(junk));
	davy_kfd_smi_feed(&s, junk, sizeof(junk), on_said, &h);
	for (int i = 0; i < 500; i++)
		davy_kfd_smi_feed(&s, junk, 7, on_said, &h);
	feed(&s, &h, " still it\n9 1000 -5 10e1 2\n");
	assert_int_equal(h.count, 1);
	assert_int_equal(h.said[0].kfd.event, DAVY_KFD_QUEUES_EVICTED);
	assert_int_equal(s.refused_count, 1);
	memset(junk, '\n', sizeof(junk));
	davy_kfd_smi_feed(&s, junk, sizeof(junk), on_said, &h);
	assert_int_equal(h.count, 1);
	feed(&s, &h, "4 1 \n");
	assert_int_equal(h.count, 2);
}

/* The faulting process chooses the text that follows its number. */
static void nobodys_name_is_another_event(void **state)
{
	static const char *const names[] = {
		"a\n4 1",	 "\n3 1 HWS hang",   "\n2 1:1",		 "x\n1 1:init",
		"\n1 1:a\n4 1 ", "\n\n\n\n4 1\n4 1", "a\n4 1\n\n\n4 1 ", "\n4 1\n4 1\n4 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct davy_kfd_smi s = { 0 };
		struct heard h = { 0 };
		char text[128];

		assert_true(strlen(names[i]) < DAVY_COMM_LEN);
		snprintf(text, sizeof(text), "1 1267:%s\n9 1000000000 -5 10e1 2\n", names[i]);
		feed(&s, &h, text);
		assert_int_equal(h.count, 2);
		assert_int_equal(h.said[0].kfd.event, DAVY_KFD_VM_FAULT);
		assert_int_equal(h.said[0].pid, 0x1267);
		assert_int_equal(h.said[1].kfd.event, DAVY_KFD_QUEUES_EVICTED);
	}
}

static void a_name_is_kept_as_it_is(void **state)
{
	struct davy_kfd_smi s = { 0 };
	struct heard h = { 0 };

	(void)state;
	feed(&s, &h, "1 1267:a: b\x1b[2J\xff\n1 10:exactly-15-char\n4 1\n");
	assert_int_equal(h.count, 3);
	assert_string_equal(h.said[0].kfd.detail, "a: b\x1b[2J\xff");
	assert_string_equal(h.said[1].kfd.detail, "exactly-15-char");
	/* Nothing more fits into that name: the reset is one. */
	assert_int_equal(h.said[2].kfd.event, DAVY_KFD_RESET_END);
}

static int reader_fd;

static struct davy_kfd_reader *reader_on(int *ret_kernel, struct heard *h)
{
	const struct davy_kfd_sinks sinks = { on_said, on_lost, h };
	struct davy_kfd_reader *r;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(davy_kfd_reader_of_fd(pair[0], &sinks, &r), 0);
	*ret_kernel = pair[1];
	reader_fd = pair[0];
	return r;
}

static uint64_t mask_at(int kernel)
{
	uint64_t mask = 0;

	assert_int_equal(recv(kernel, &mask, sizeof(mask), MSG_DONTWAIT), sizeof(mask));
	return mask;
}

static void say(int kernel, const char *text, int times)
{
	while (times--)
		assert_int_equal(write(kernel, text, strlen(text)), strlen(text));
}

static void a_descriptor_requests_all_events_and_never_blocks(void **state)
{
	struct heard h = { 0 };
	struct davy_kfd_reader *r;
	int kernel;

	(void)state;
	r = reader_on(&kernel, &h);
	assert_true(mask_at(kernel) == 0x8000000000001fff);
	assert_int_equal(davy_kfd_read(r), 0);
	say(kernel, "9 1000 -5 10e1 2\n", 3);
	assert_int_equal(davy_kfd_read(r), 1);
	assert_int_equal(h.count, 3);
	assert_int_equal(davy_kfd_read(r), 0);
	davy_kfd_reader_tick(r, 5 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 0);
	close(kernel);
	assert_true(davy_kfd_read(r) < 0);
	davy_kfd_reader_free(r);
	close(reader_fd);
}

static void a_full_buffer_is_reported_as_loss(void **state)
{
	struct heard h = { 0 };
	struct davy_kfd_reader *r;
	int kernel;

	(void)state;
	r = reader_on(&kernel, &h);
	say(kernel, "9 1000 -5 10e1 2\n", 54); /* 918 bytes: one more line found room */
	assert_int_equal(davy_kfd_read(r), 1);
	davy_kfd_reader_tick(r, 1 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 0);
	say(kernel, "9 1000 -5 10e1 2\n", 60); /* 1020 of 1024 */
	assert_int_equal(davy_kfd_read(r), 1);
	assert_int_equal(h.lost, 0);
	davy_kfd_reader_tick(r, 2 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 1);
	assert_non_null(strstr(h.reason, "full"));
	davy_kfd_reader_tick(r, 3 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 1);
	say(kernel, "9 1000 -5 10e1 2\n", 61); /* 1037: it is the large one */
	assert_int_equal(davy_kfd_read(r), 1);
	say(kernel, "9 1000 -5 10e1 2\n", 60);
	assert_int_equal(davy_kfd_read(r), 1);
	davy_kfd_reader_tick(r, 4 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 1);
	davy_kfd_reader_free(r);
	close(reader_fd);
	close(kernel);
}

static void a_storm_disables_hot_events_until_the_second_ends(void **state)
{
	struct heard h = { 0 };
	struct davy_kfd_reader *r;
	int kernel;

	(void)state;
	r = reader_on(&kernel, &h);
	mask_at(kernel);
	for (int i = 0; i < 26; i++) {
		say(kernel, "7 1000 -5 @7f1234567(10e1) W\n", 20);
		assert_int_equal(davy_kfd_read(r), 1);
	}
	assert_int_equal(h.count, 520);
	assert_true(mask_at(kernel) == (0x8000000000001fff & ~0x4f0ULL));
	assert_int_equal(recv(kernel, &(char){ 0 }, 1, MSG_DONTWAIT), -1); /* once */
	davy_kfd_reader_tick(r, 7 * DAVY_NS_PER_S);
	assert_true(mask_at(kernel) == 0x8000000000001fff);
	assert_int_equal(h.lost, 1);
	assert_non_null(strstr(h.reason, "500"));
	davy_kfd_reader_tick(r, 8 * DAVY_NS_PER_S);
	assert_int_equal(h.lost, 1);
	davy_kfd_reader_free(r);
	close(reader_fd);
	close(kernel);
}

static void a_descriptor_that_refuses_the_mask_is_closed(void **state)
{
	const struct davy_kfd_sinks sinks = { on_said, on_lost, NULL };
	struct davy_kfd_reader *r;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(davy_kfd_reader_of_fd(fd[0], &sinks, &r), -EBADF);
	assert_int_equal(close(fd[0]), 0); /* it is ours still */
	close(fd[1]);
}

static int next_answer(struct davy_kfd_opener *o, struct davy_kfd_answer *ret_answer)
{
	struct pollfd readable = { o->fd, POLLIN, 0 };
	int fd, n = davy_kfd_opener_next(o, ret_answer, &fd);

	if (!n) {
		assert_int_equal(poll(&readable, 1, 5000), 1);
		n = davy_kfd_opener_next(o, ret_answer, &fd);
	}
	assert_true(n != 1 || fd == -1);
	return n;
}

static void a_child_opens_kfd_or_reports_the_error(void **state)
{
	const uint32_t gpu_ids[] = { 4321, 99 };
	struct davy_kfd_opener o = { 0 };
	struct davy_kfd_answer answer;

	(void)state;
	assert_int_equal(davy_kfd_opener_start(&o, gpu_ids, 2, false), 0);
	assert_int_equal(next_answer(&o, &answer), 1);
	assert_int_equal(answer.gpu_id, 0);
	assert_int_equal(answer.error, -ENOENT);
	assert_int_equal(next_answer(&o, &answer), -ENODATA);
	assert_int_equal(davy_kfd_opener_done(&o), 0);
	assert_int_equal(o.child.pid, 0);
	PUT("/dev/kfd", "no such device");
	assert_int_equal(davy_kfd_opener_start(&o, gpu_ids, 2, true), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(next_answer(&o, &answer), 1);
		assert_int_equal(answer.gpu_id, gpu_ids[i]);
		assert_int_equal(answer.error, -ENOTTY);
	}
	assert_int_equal(next_answer(&o, &answer), 1);
	assert_int_equal(answer.gpu_id, 0);
	assert_int_equal(answer.error, 0);
	/* It stays until it is let go. */
	assert_int_equal(kill(o.child.pid, 0), 0);
	assert_false(davy_kfd_opener_reap(&o));
	assert_int_equal(davy_kfd_opener_done(&o), 0);
	assert_true(davy_kfd_opener_reap(&o));
	assert_int_equal(davy_kfd_opener_done(&o), 0);
}

static void properties_are_read_line_by_line(void **state)
{
	struct davy_kfd_properties p;

	(void)state;
	davy_kfd_properties_parse("cpu_cores_count 0\nsimd_count 1216\nmem_banks_count 1\n"
				  "gfx_target_version 90402\nlocation_id 25344\ndomain 65536\n"
				  "max_engine_clk_ccompute 0",
				  &p);
	assert_int_equal(p.simd_count, 1216);
	assert_int_equal(p.gfx_target_version, 90402);
	assert_int_equal(p.location_id, 25344);
	assert_int_equal(p.domain, 65536);
	assert_int_equal(p.mem_banks_count, 1);
	davy_kfd_properties_parse("heap_type 1\nsize_in_bytes 68702699520\nflags 0\n", &p);
	assert_int_equal(p.heap_type, 1);
	assert_int_equal(p.size_in_bytes, 68702699520);
	davy_kfd_properties_parse("simd_count -1\nsimd_count\nsimd_count \nsimd_count 4294967296\n"
				  "xsimd_count 7\nsimd_counts 7\nsimd_count 7 8\nsimd_count  7\n"
				  "size_in_bytes 99999999999999999999\ndomain 5x\n\n\n \n",
				  &p);
	assert_int_equal(p.simd_count, 0);
	assert_int_equal(p.size_in_bytes, 0);
	assert_int_equal(p.domain, 0);
	davy_kfd_properties_parse("", &p);
	assert_int_equal(p.simd_count, 0);
}

static void nodes_are_gpus_with_their_address_and_memory(void **state)
{
	struct davy_kfd_node list[4];
	char device[DAVY_DEVICE_LEN];

	(void)state;
	assert_int_equal(davy_kfd_nodes_list(list, 4), 0);
	PUT(NODES "0/gpu_id", "0\n");
	PUT(NODES "0/properties", "cpu_cores_count 16\nlocation_id 0\n");
	PUT(NODES "1/gpu_id", "4321\n");
	PUT(NODES "1/properties", "simd_count 96\nmem_banks_count 2\ngfx_target_version 110000\n"
				  "location_id 768\ndomain 0\n");
	PUT(NODES "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 1000\n");
	PUT(NODES "1/mem_banks/1/properties", "heap_type 0\nsize_in_bytes 77\n");
	PUT(NODES "2/gpu_id", "7\n");
	PUT(NODES "2/properties", "location_id 256\ndomain 65536\nmem_banks_count 4000000000\n");
	PUT(NODES "3/gpu_id", "99999999999\n");
	PUT(NODES "3/properties", "location_id 1\n");
	PUT(NODES "4/gpu_id", "12\n"); /* no properties: EPERM in a container */
	PUT(NODES "../nodes/x/gpu_id", "13\n");
	assert_int_equal(davy_kfd_nodes_list(list, 4), 2);
	assert_int_equal(list[0].gpu_id, 4321);
	assert_string_equal(list[0].device, "0000:03:00.0");
	assert_int_equal(list[0].gfx_target_version, 110000);
	assert_int_equal(list[0].simd_count, 96);
	assert_int_equal(list[0].memory, 1000);
	assert_false(list[0].partitioned);
	assert_string_equal(list[1].device, "10000:01:00.0");
	assert_int_equal(davy_kfd_nodes_list(list, 1), 1);
	assert_int_equal(davy_kfd_nodes_list(list, 0), 0);
	assert_true(davy_kfd_device_of(4321, device));
	assert_string_equal(device, "0000:03:00.0");
	assert_false(davy_kfd_device_of(4322, device));
	assert_false(davy_kfd_device_of(0, device));
	assert_string_equal(device, "");
}

static void partitions_are_one_device(void **state)
{
	struct davy_kfd_node list[4];

	(void)state;
	PUT("/sys/bus/pci/devices/0000:03:00.0/current_compute_partition", "CPX\n");
	PUT(NODES "2/gpu_id", "20\n");
	PUT(NODES "2/properties", "location_id 768\n");
	PUT(NODES "3/gpu_id", "30\n");
	PUT(NODES "3/properties", "location_id 769\n"); /* the partition's number, no function */
	PUT(NODES "4/gpu_id", "40\n");
	PUT(NODES "4/properties", "location_id 1025\n"); /* no such device */
	assert_int_equal(davy_kfd_nodes_list(list, 4), 3);
	assert_int_equal(list[1].gpu_id, 30);
	assert_string_equal(list[1].device, "0000:03:00.0");
	assert_true(list[0].partitioned && list[1].partitioned);
	assert_string_equal(list[2].device, "0000:04:00.1");
}

static void a_process_has_a_row_for_each_gpu(void **state)
{
	struct davy_kfd_use list[8];
	uint32_t pids[8];

	(void)state;
	assert_int_equal(davy_kfd_use_pids(pids, 8), 0);
	PUT(PROC "4711/pasid", "32770\n");
	PUT(PROC "4711/vram_4321", "1048576\n");
	PUT(PROC "4711/sdma_4321", "it would wait\n");
	PUT(PROC "4711/stats_4321/evicted_ms", "250\n");
	PUT(PROC "4711/counters_4321/faults", "3\n");
	PUT(PROC "4711/counters_4321/page_in", "18446744073709551615\n");
	PUT(PROC "4711/counters_4321/page_out", "5\n");
	PUT(PROC "4711/queues/0/gpuid", "4321");
	PUT(PROC "4711/queues/1/gpuid", "4321");
	PUT(PROC "4711/queues/2/gpuid", "99"); /* a GPU without a file */
	assert_int_equal(davy_kfd_use_pids(pids, 8), 1);
	assert_int_equal(pids[0], 4711);
	assert_int_equal(davy_kfd_use_read(4711, list, 8), 2);
	assert_int_equal(list[0].gpu_id, 4321);
	assert_int_equal(list[0].vram, 1048576);
	assert_int_equal(list[0].evicted_ms, 250);
	assert_int_equal(list[0].fault_count, 3);
	assert_true(list[0].pages_in == UINT64_MAX);
	assert_int_equal(list[0].pages_out, 5);
	assert_int_equal(list[0].queue_count, 2);
	assert_int_equal(list[1].gpu_id, 99);
	assert_int_equal(list[1].queue_count, 1);
	assert_int_equal(davy_kfd_use_read(4711, list, 1), 1);
	assert_int_equal(davy_kfd_use_read(4712, list, 8), -ESRCH);
}

static void further_contexts_add_up(void **state)
{
	struct davy_kfd_use list[8];

	(void)state;
	PUT(PROC "5/vram_7", "1000\n");
	PUT(PROC "5/context_1/vram_7", "24\n");
	PUT(PROC "5/context_1/queues/0/gpuid", "7");
	PUT(PROC "5/context_2/vram_8", "5\n");
	PUT(PROC "5/context_2/context_9/vram_8", "100000\n"); /* no kernel nests them */
	assert_int_equal(davy_kfd_use_read(5, list, 8), 2);
	assert_int_equal(list[0].vram, 1024);
	assert_int_equal(list[0].queue_count, 1);
	assert_int_equal(list[1].vram, 5);
}

static void text_that_is_not_a_number_is_skipped(void **state)
{
	struct davy_kfd_use list[8];
	uint32_t pids[2];

	(void)state;
	PUT(PROC "0/x", "");
	PUT(PROC "self/x", "");
	PUT(PROC "-5/x", "");
	PUT(PROC "12x/x", "");
	PUT(PROC "99999999999/x", "");
	assert_int_equal(davy_kfd_use_pids(pids, 2), 0);
	PUT(PROC "6/vram_", "1\n");
	PUT(PROC "6/vram_0", "1\n");
	PUT(PROC "6/vram_5x", "1\n");
	PUT(PROC "6/vram_99999999999", "1\n");
	PUT(PROC "6/vram_7", "-1\n");
	PUT(PROC "6/stats_7/evicted_ms", "99999999999999999999999999\n");
	PUT(PROC "6/queues/a/gpuid", "7");
	PUT(PROC "6/queues/1/gpuid", "seven");
	PUT(PROC "7/x", "");
	PUT(PROC "8/x", "");
	assert_int_equal(davy_kfd_use_pids(pids, 2), 2);
	assert_int_equal(davy_kfd_use_read(6, list, 8), 1);
	assert_int_equal(list[0].gpu_id, 7);
	assert_int_equal(list[0].vram, 0);
	assert_int_equal(list[0].evicted_ms, 0);
	assert_int_equal(list[0].queue_count, 0);
	assert_int_equal(davy_kfd_use_read(7, list, 8), 0);
}

#define IN_A_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_stop_and_run_again_on_every_kernel),
		cmocka_unit_test(a_reset_has_its_cause_if_one_is_given),
		cmocka_unit_test(faults_and_throttling_are_read),
		cmocka_unit_test(shared_memory_that_moves_is_in_bytes),
		cmocka_unit_test(page_faults_have_kind_of_start_and_end),
		cmocka_unit_test(processes_begin_and_end),
		cmocka_unit_test(numbers_have_their_limits),
		cmocka_unit_test(unknown_lines_are_refused),
		cmocka_unit_test(an_incomplete_line_is_ignored),
		cmocka_unit_test(a_line_may_come_in_pieces),
		cmocka_unit_test(an_endless_line_costs_no_other_line),
		cmocka_unit_test(nobodys_name_is_another_event),
		cmocka_unit_test(a_name_is_kept_as_it_is),
		cmocka_unit_test(a_descriptor_requests_all_events_and_never_blocks),
		cmocka_unit_test(a_full_buffer_is_reported_as_loss),
		cmocka_unit_test(a_storm_disables_hot_events_until_the_second_ends),
		cmocka_unit_test(a_descriptor_that_refuses_the_mask_is_closed),
		IN_A_ROOT(a_child_opens_kfd_or_reports_the_error),
		cmocka_unit_test(properties_are_read_line_by_line),
		IN_A_ROOT(nodes_are_gpus_with_their_address_and_memory),
		IN_A_ROOT(partitions_are_one_device),
		IN_A_ROOT(a_process_has_a_row_for_each_gpu),
		IN_A_ROOT(further_contexts_add_up),
		IN_A_ROOT(text_that_is_not_a_number_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
