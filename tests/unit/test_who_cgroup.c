/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cgroups the doctor's children may enter, on a tree of plain files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor/who_cgroup.h"
#include "lib/file.h"

#define UNIT	 "/system.slice/ollama.service"
#define STRANGER 1998

static char mount[64];

static const char *path_in(const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", mount, path);
	return whole;
}

static void make(const char *path)
{
	char file[512];

	assert_int_equal(davy_make_dirs(path_in(path)), 0);
	snprintf(file, sizeof(file), "%s/cgroup.procs", path_in(path));
	assert_int_equal(davy_replace_file(file, "", 0, 0644), 0);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(davy_replace_file(path_in(path), text, strlen(text), 0644), 0);
}

static enum davy_who_cgroup look(const char *path)
{
	int fd;
	enum davy_who_cgroup found = davy_who_cgroup_open(mount, path, &fd);

	assert_int_equal(fd >= 0, found == DAVY_WHO_CGROUP_OURS);
	if (fd >= 0)
		close(fd);
	return found;
}

static int setup(void **state)
{
	(void)state;
	snprintf(mount, sizeof(mount), "/tmp/davylamp-cgroups-XXXXXX");
	assert_non_null(mkdtemp(mount));
	make(UNIT);
	make(UNIT "/below");
	make("/user.slice/user-1998.slice/session-1.scope");
	make("/lxc/guest");
	return 0;
}

static void a_unit_of_roots_is_entered(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* root owns nothing in this tree */
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_OURS);
	assert_int_equal(look(UNIT "/below"), DAVY_WHO_CGROUP_OURS);
}

static void a_cgroup_without_a_unit_is_not_entered(void **state)
{
	(void)state;
	assert_int_equal(look("/user.slice/user-1998.slice/session-1.scope"),
			 DAVY_WHO_CGROUP_STRANGERS);
	assert_int_equal(look("/lxc/guest"), DAVY_WHO_CGROUP_STRANGERS);
	assert_int_equal(look("/system.slice"), DAVY_WHO_CGROUP_STRANGERS);
	assert_int_equal(look("/system.slice/gone.service"), DAVY_WHO_CGROUP_GONE);
	assert_int_equal(look("/system.slice/../lxc/guest"), DAVY_WHO_CGROUP_GONE);
	assert_int_equal(look("0"), DAVY_WHO_CGROUP_GONE);
	assert_int_equal(symlink("ollama.service", path_in("/system.slice/link.service")), 0);
	assert_int_equal(look("/system.slice/link.service"), DAVY_WHO_CGROUP_GONE);
}

static void a_cgroup_of_another_user_is_not_entered(void **state)
{
	static const char *const places[] = { "/system.slice", UNIT, UNIT "/cgroup.procs",
					      UNIT "/cgroup.freeze", UNIT "/memory.max" };

	(void)state;
	if (geteuid())
		skip(); /* chown is not permitted */
	put(UNIT "/cgroup.freeze", "0\n");
	put(UNIT "/memory.max", "max\n");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path = path_in(places[i]);

		assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_OURS);
		assert_int_equal(chown(path, STRANGER, 0), 0);
		assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_STRANGERS);
		assert_int_equal(look(UNIT "/below"), DAVY_WHO_CGROUP_STRANGERS);
		assert_int_equal(chown(path, 0, 0), 0);
		assert_int_equal(chmod(path, 0775), 0);
		assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_STRANGERS);
		assert_int_equal(chmod(path, 0755), 0);
	}
}

static void a_frozen_cgroup_is_not_entered(void **state)
{
	(void)state;
	put("/system.slice/cgroup.freeze", "1\n");
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_FROZEN);
	put("/system.slice/cgroup.freeze", "0\n");
	put(UNIT "/cgroup.freeze", "1\n");
	assert_int_equal(look(UNIT "/below"), DAVY_WHO_CGROUP_FROZEN);
	put(UNIT "/cgroup.freeze", "0\n");
	put("/user.slice/cgroup.freeze", "1\n"); /* also reported for another user's cgroup */
	assert_int_equal(look("/user.slice/user-1998.slice/session-1.scope"),
			 DAVY_WHO_CGROUP_FROZEN);
}

static void where_a_child_would_end_the_engine_it_is_not(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* root owns nothing in this tree */
	put("/system.slice/memory.max", "8589934592\n");
	put("/system.slice/memory.current", "8000000000\n");
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_FULL);
	put("/system.slice/memory.current", "6000000000\n");
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_OURS);
	put("/system.slice/memory.current", "9000000000\n");
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_FULL);
	put("/system.slice/memory.max", "max\n");
	assert_int_equal(look(UNIT), DAVY_WHO_CGROUP_OURS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_of_roots_is_entered),
		cmocka_unit_test(a_cgroup_without_a_unit_is_not_entered),
		cmocka_unit_test(a_cgroup_of_another_user_is_not_entered),
		cmocka_unit_test(a_frozen_cgroup_is_not_entered),
		cmocka_unit_test(where_a_child_would_end_the_engine_it_is_not),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
