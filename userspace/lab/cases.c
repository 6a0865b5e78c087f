/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/cases.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/core.h"
#include "lib/log.h"
#include "store/trace.h"

#define ENDING ".trace"

/* Takes class and begin of the failure from a plan. */
static void take_failure(struct davy_case *of, const struct davy_plan *plan)
{
	struct davy_label *l = &of->label;

	l->class = plan->failure_class;
	if (l->class == DAVY_CLASS_NONE)
		l->class = DAVY_CLASS_OTHER;
	davy_copy_name(l->device, sizeof(l->device), plan->device);
	l->pid = plan->pid;
	l->failure_ns = plan->evidence[0].at_ns;
	l->cause_ns = l->failure_ns > DAVY_RECORDED_NS ? l->failure_ns - DAVY_RECORDED_NS : 0;
	if (l->cause_ns < l->begin_ns)
		l->cause_ns = l->begin_ns;
	l->precursor_ns = l->cause_ns;
	of->failed = true;
}

static void cases_step(struct davy_case *of, struct davy_core *core, const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	size_t count = davy_core_step(core, ev, plans, DAVY_PLANS_MAX);

	for (size_t i = 0; i < count && !of->failed; i++)
		if (plans[i].kind == DAVY_PLAN_FAILURE)
			take_failure(of, &plans[i]);
}

/* Feeds the core up to the failure; after it reads only the times. */
static int read_through(struct davy_case *of, struct davy_core *core,
			struct davy_trace_reader *trace)
{
	struct davy_event ev;
	int more;

	while ((more = davy_trace_next(trace, &ev)) > 0) {
		if (!of->label.begin_ns)
			of->label.begin_ns = ev.at_ns;
		if (ev.at_ns > of->label.begin_ns)
			of->label.duration_ns = ev.at_ns - of->label.begin_ns;
		if (!of->failed)
			cases_step(of, core, &ev);
	}
	return more;
}

int davy_case_find_failure(struct davy_case *of)
{
	struct davy_core *core = malloc(sizeof(*core));
	struct davy_trace_reader *trace = NULL;
	int more = core ? davy_trace_open(of->path, &trace) : -ENOMEM;

	of->failed = false;
	if (!more) {
		davy_core_init(core);
		more = read_through(of, core, trace);
	}
	davy_trace_reader_free(trace);
	free(core);
	return more < 0 ? more : of->failed;
}

static int cases_look_at(struct davy_case *of)
{
	char path[sizeof(of->path)], error[256] = "";
	int err = davy_label_path(path, sizeof(path), of->path);

	if (!err)
		err = davy_label_read(path, &of->label, error, sizeof(error));
	if (!err) {
		of->labelled = true;
		of->failed = of->label.class != DAVY_CLASS_NONE;
		return 0;
	}
	if (err == -ENOENT) {
		err = davy_case_find_failure(of);
		if (err >= 0 || (err == -EBADMSG && of->failed)) /* reported when it is scored */
			return 0;
		davy_log("'%s': %s", of->path,
			 err == -EINVAL	   ? "not a trace"
			 : err == -EBADMSG ? "truncated or corrupted"
					   : strerror(-err));
		return err;
	}
	davy_log("'%s': %s", path, err == -EBADMSG ? error : strerror(-err));
	return err;
}

static int add_trace(struct davy_cases *cases, const char *path)
{
	struct davy_case *of;
	int err;

	if (cases->count == DAVY_CASES_MAX || strlen(path) >= sizeof(of->path)) {
		davy_log("'%s': %s", path,
			 cases->count == DAVY_CASES_MAX ? "too many traces"
							: "the name is too long");
		return -E2BIG;
	}
	if (cases->count == cases->room) {
		size_t room = cases->room ? cases->room * 2 : 64;
		struct davy_case *more = reallocarray(cases->at, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		cases->at = more;
		cases->room = room;
	}
	of = &cases->at[cases->count];
	memset(of, 0, sizeof(*of));
	snprintf(of->path, sizeof(of->path), "%s", path);
	err = cases_look_at(of);
	if (err)
		cases->wrong_count++;
	else
		cases->count++;
	return err;
}

static int is_trace(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), ending = strlen(ENDING);

	return length > ending && !strcmp(entry->d_name + length - ending, ENDING);
}

static int cases_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct davy_cases *cases, const char *path)
{
	struct dirent **list = NULL;
	char name[sizeof(cases->at->path)];
	int count = scandir(path, &list, is_trace, cases_by_name), err = count < 0 ? -errno : 0;

	if (err)
		davy_log("'%s': %s", path, strerror(-err));
	if (!count)
		davy_log("'%s': no NAME.trace in it", path);
	for (int i = 0; i < count; i++) {
		int n = snprintf(name, sizeof(name), "%s/%s", path, list[i]->d_name);

		int wrong =
			n < 0 || (size_t)n >= sizeof(name) ? -ENAMETOOLONG : add_trace(cases, name);

		err = wrong ? wrong : err;
		free(list[i]);
	}
	free(list);
	return count ? err : -ENOENT;
}

int davy_cases_add(struct davy_cases *cases, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		int err = -errno;

		davy_log("'%s': %s", path, strerror(-err));
		return err;
	}
	return S_ISDIR(st.st_mode) ? add_folder(cases, path) : add_trace(cases, path);
}

void davy_cases_free(struct davy_cases *cases)
{
	free(cases->at);
	memset(cases, 0, sizeof(*cases));
}
