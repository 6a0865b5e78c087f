/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files as another user, in its mounts. A file system that never answers blocks only the
 * child.
 */
#include <errno.h>
#include <sys/mman.h>

#include "lib/child.h"
#include "lib/log.h"
#include "doctor/who.h"

#define LIMIT_MS  10000
#define REPORT_MS 2000
#define END_MS	  100
#define FAILED	  99 /* exit status: davy_who_become() failed */

struct davy_doctor_facts *davy_facts_new(void)
{
	void *at = mmap(NULL, sizeof(struct davy_doctor_facts), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void davy_facts_free(struct davy_doctor_facts *facts)
{
	if (facts)
		munmap(facts, sizeof(*facts));
}

struct doing {
	const struct davy_who *who;
	struct davy_doctor_facts *facts;
	void (*work)(struct davy_doctor_facts *facts, const struct davy_who *who);
};

static int who_run(void *arg)
{
	const struct doing *d = arg;

	if (davy_who_become(d->who))
		return FAILED;
	d->work(d->facts, d->who);
	return 0;
}

static int who_wait(struct davy_child *child, const char *what)
{
	int status;

	if (!davy_child_wait(child, REPORT_MS, &status)) {
		davy_log("doctor: waiting for %s, at most %d s", what, LIMIT_MS / 1000);
		if (!davy_child_wait(child, LIMIT_MS - REPORT_MS, &status)) {
			davy_child_end(child, END_MS);
			return -ETIMEDOUT;
		}
	}
	return status ? -ECHILD : 0;
}

int davy_who_do(const struct davy_who *who, struct davy_doctor_facts *facts, const char *what,
		void (*work)(struct davy_doctor_facts *facts, const struct davy_who *who))
{
	struct doing doing = { who, facts, work };
	int fds[DAVY_WHO_FDS_MAX], err;
	const struct davy_child_spec spec = { .run = who_run,
					      .arg = &doing,
					      .stdio = { 0, DAVY_CHILD_KEEP },
					      .fds = fds,
					      .fd_count = davy_who_fds(who, fds) };
	struct davy_child child;

	if (!davy_who_possible(who))
		return -EPERM;
	err = davy_child_start(&spec, &child);
	return err ? err : who_wait(&child, what);
}
