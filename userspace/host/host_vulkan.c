/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "act/probe_run.h"
#include "host/host_devices.h"

#define LIMIT_MS 6000 /* the probe's own limit expires first */

struct listing {
	sd_event *loop;
	json_t *answer;
	char *why;
};

static void host_vulkan_on_finding(void *arg, const struct davy_probe_finding *finding)
{
	struct listing *l = arg;

	if (finding->answer)
		l->answer = json_loadb(finding->answer, finding->answer_size, 0, NULL);
	if (finding->kind != DAVY_PROBE_HEALTHY)
		davy_copy_name(l->why, DAVY_REASON_LEN, finding->text);
	sd_event_exit(l->loop, 0);
}

json_t *davy_host_vulkan(char why[DAVY_REASON_LEN])
{
	static const char *const arguments[] = { "vulkan", "--list", "--timeout", "5", NULL };
	char program[PATH_MAX];
	struct listing l = { .why = why };
	struct davy_probe_request request = { .program = program,
					      .arguments = arguments,
					      .limit_ms = LIMIT_MS,
					      .done = host_vulkan_on_finding,
					      .arg = &l };
	struct davy_probe_finding finding;
	int err = davy_probe_path(program, sizeof(program));

	why[0] = 0;
	if (!err)
		err = sd_event_new(&l.loop);
	if (err >= 0)
		err = davy_probe_start(l.loop, &request);
	if (err >= 0) {
		sd_event_loop(l.loop);
	} else {
		davy_probe_not_started(err, &finding);
		davy_copy_name(why, DAVY_REASON_LEN, finding.text);
	}
	sd_event_unref(l.loop);
	return l.answer;
}
