/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output to a terminal that was stopped (Ctrl-S), a full pipe, and messages through either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/writer.h"

#define XOFF "\x13"
#define XON  "\x11"

static int master, terminal;

static void open_terminal(void)
{
	struct termios t;

	alarm(20); /* a blocking call fails the test */
	master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	assert_int_equal(tcgetattr(terminal, &t), 0);
	t.c_iflag |= IXON;
	t.c_oflag &= ~(tcflag_t)OPOST;
	t.c_lflag &= ~(tcflag_t)ECHO;
	assert_int_equal(tcsetattr(terminal, TCSANOW, &t), 0);
}

static void close_terminal(void)
{
	close(terminal);
	close(master);
	alarm(0);
}

static void press(const char *key)
{
	assert_int_equal(write(master, key, 1), 1);
	usleep(20000); /* the line discipline takes it up in a worker */
}

/* All that can be read now, up to "size" bytes. */
static size_t shown(char *text, size_t size)
{
	struct pollfd in = { .fd = master, .events = POLLIN };
	size_t have = 0;

	while (have < size && poll(&in, 1, 50) == 1) {
		ssize_t n = read(master, text + have, size - have);

		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

static void a_stopped_terminal_costs_text_and_no_time(void **state)
{
	struct davy_writer o;
	char text[64];

	(void)state;
	open_terminal();
	assert_int_equal(davy_writer_open(&o, terminal), 0);
	assert_false(fcntl(terminal, F_GETFL) & O_NONBLOCK); /* others' is as it was */
	assert_true(davy_writer_put(&o, "one\n", 4));
	assert_int_equal(shown(text, sizeof(text)), 4);
	press(XOFF);
	assert_false(davy_writer_put(&o, "two\n", 4));
	press(XON);
	assert_true(davy_writer_put(&o, "three\n", 6));
	assert_int_equal(shown(text, sizeof(text)), 6);
	assert_memory_equal(text, "three\n", 6);
	davy_writer_close(&o);
	close_terminal();
}

static void a_partly_written_line_is_completed_before_the_next(void **state)
{
	static char text[1 << 20], back[sizeof(text) + 8];
	size_t have = 0;
	struct davy_writer o;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	open_terminal();
	assert_int_equal(davy_writer_open(&o, terminal), 0);
	assert_true(davy_writer_put(&o, text, sizeof(text)));
	assert_false(davy_writer_put(&o, "lost", 4));
	while (!davy_writer_flush(&o))
		have += shown(back + have, sizeof(back) - have);
	have += shown(back + have, sizeof(back) - have);
	assert_true(davy_writer_put(&o, "next", 4));
	have += shown(back + have, sizeof(back) - have);
	assert_int_equal(have, sizeof(text) + 4);
	assert_memory_equal(back, text, sizeof(text));
	assert_memory_equal(back + sizeof(text), "next", 4);
	davy_writer_close(&o);
	close_terminal();
}

static void a_full_pipe_costs_text_and_no_time(void **state)
{
	char text[256];
	struct davy_writer o;
	size_t count = 0;
	int ends[2];

	(void)state;
	alarm(20);
	memset(text, 'x', sizeof(text));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(davy_writer_open(&o, ends[1]), 0);
	while (davy_writer_put(&o, text, sizeof(text)))
		count++;
	assert_true(count >= 100);
	assert_true(read(ends[0], text, sizeof(text)) > 0);
	for (int i = 0; i < 100; i++)
		assert_true(read(ends[0], text, sizeof(text)) > 0);
	assert_true(davy_writer_put(&o, text, sizeof(text)));
	davy_writer_close(&o);
	assert_int_equal(close(ends[1]), 0); /* it was not the writer's */
	close(ends[0]);
	alarm(0);
}

static void a_line_larger_than_the_pipe_costs_no_time(void **state)
{
	static char text[1 << 20], back[sizeof(text)];
	struct davy_writer o;
	size_t have = 0;
	int ends[2];

	(void)state;
	alarm(20);
	memset(text, 'x', sizeof(text));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(davy_writer_open(&o, ends[1]), 0);
	assert_true(davy_writer_put(&o, text, sizeof(text)));
	while (!davy_writer_flush(&o))
		have += (size_t)read(ends[0], back + have, sizeof(back) - have);
	while (have < sizeof(text))
		have += (size_t)read(ends[0], back + have, sizeof(back) - have);
	assert_memory_equal(back, text, sizeof(text));
	davy_writer_close(&o);
	close(ends[1]);
	close(ends[0]);
	alarm(0);
}

static bool put(void *arg, const char *text, size_t size)
{
	return davy_writer_put(arg, text, size);
}

static void messages_that_were_lost_are_counted(void **state)
{
	static const char reported[] = "davylamp: before\n"
				       "davylamp: 2 messages were not printed\n"
				       "davylamp: after 7\n";
	struct davy_writer o;
	char text[256];

	(void)state;
	open_terminal();
	assert_int_equal(davy_writer_open(&o, terminal), 0);
	davy_log_through(put, &o);
	davy_log("before");
	press(XOFF);
	davy_log("lost");
	davy_log("lost");
	press(XON);
	davy_log("after %d", 7);
	davy_log_through(NULL, NULL);
	assert_int_equal(shown(text, sizeof(text)), sizeof(reported) - 1);
	assert_memory_equal(text, reported, sizeof(reported) - 1);
	davy_writer_close(&o);
	close_terminal();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_terminal_costs_text_and_no_time),
		cmocka_unit_test(a_partly_written_line_is_completed_before_the_next),
		cmocka_unit_test(a_full_pipe_costs_text_and_no_time),
		cmocka_unit_test(a_line_larger_than_the_pipe_costs_no_time),
		cmocka_unit_test(messages_that_were_lost_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
