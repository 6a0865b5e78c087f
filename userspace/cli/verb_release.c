/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/act/agent_intents.h"
#include "lib/file.h"
#include "lib/message.h"
#include "lib/options.h"
#include "store/db.h"
#include "store/learned.h"
#include "verb/client.h"
#include "cli/release_units.h"
#include "cli/verbs.h"

#define DETACH_MS 120000 /* for each program the kernel waits for its readers (RCU tasks) */

static const char usage[] =
	"usage: davylamp release --module NAME [--socket PATH]\n"
	"       davylamp release --all [--socket PATH] [--state DIR]\n"
	"\n"
	"--module: the agent's programs hold a reference to the kernel modules that they\n"
	"are attached to. --module detaches them from one module, so that 'rmmod NAME'\n"
	"works. The agent attaches again when the module is loaded, and reports the gap.\n"
	"--all: undoes all actions. Paused or throttled workloads continue. Limits and\n"
	"settings get their previous values back, unless another program changed them.\n"
	"Needs root. Without an agent, undoes the open intents in the database.\n"
	"\n"
	"  --module NAME  amdgpu, gpu_sched, ttm or drm\n"
	"  --all          undo all actions on all workloads\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR    state directory with the database (/var/lib/davylamp)\n"
	"  -h, --help     print this text\n";

static int release_report(unsigned int undone, unsigned int failed)
{
	printf("%u action%s undone\n", undone, undone == 1 ? "" : "s");
	if (failed)
		davy_log("%u could not be undone, see above; try again", failed);
	return failed ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

/* Undoes the actions of a killed agent, if its log exists. */
static int release_from_log(const char *state_dir)
{
	struct davy_undone undone = { 0 }, from_log = { 0 };
	struct davy_intents *log = NULL;
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "%s/%s", state_dir, DAVY_DB_NAME);

	davy_release_units(state_dir, &undone);
	if (!err && access(path, F_OK) && errno == ENOENT)
		return release_report(undone.undone, undone.failed); /* no log; do not create one */
	if (!err)
		err = davy_intents_open(state_dir, &log);
	if (!err)
		err = davy_intents_undo_all(log, &from_log);
	davy_intents_close(log);
	undone.undone += from_log.undone;
	undone.failed += from_log.failed;
	if (!err)
		return release_report(undone.undone, undone.failed);
	davy_log("log of intents '%s/%s': %s; actions still in force are unknown", state_dir,
		 DAVY_DB_NAME, strerror(-err));
	return DAVY_EXIT_FAILED;
}

static int release_all(const char *socket_path, const char *state_dir)
{
	json_t *answer = NULL;
	int err;

	if (geteuid()) {
		davy_log("release --all needs root");
		return DAVY_EXIT_NOT_PERMITTED;
	}
	if (davy_client_find(socket_path) == DAVY_EXIT_NOTHING)
		return release_from_log(state_dir);
	err = davy_client_ask(socket_path, json_pack("{s:s}", "op", "release_all"), &answer);
	if (err == DAVY_EXIT_NOT_PERMITTED)
		return err;
	if (err) /* the agent hangs, or has just ended */
		return release_from_log(state_dir);
	err = release_report((unsigned int)davy_message_number(answer, "undone", 0),
			     (unsigned int)davy_message_number(answer, "failed", 0));
	json_decref(answer);
	return err;
}

static int release_module(const char *socket_path, const char *module)
{
	json_t *answer = NULL;
	int count, err;

	err = davy_client_ask_for(socket_path,
				  json_pack("{s:s, s:s}", "op", "release", "module", module),
				  DETACH_MS, &answer);
	if (err)
		return err;
	count = (int)davy_message_number(answer, "sensors", 0);
	json_decref(answer);
	printf("%d sensor%s detached from module '%s'\n", count, count == 1 ? "" : "s", module);
	return count ? DAVY_EXIT_DONE : DAVY_EXIT_NOTHING;
}

int davy_verb_release(int argc, char **argv)
{
	const char *socket_path = DAVY_SOCKET_DEFAULT, *state_dir = DAVY_STATE_DIR, *module = NULL;
	bool all = false;
	const struct davy_option options[] = {
		{ "module", .text = &module },
		{ "all", .flag = &all },
		{ "socket", .text = &socket_path },
		{ "state", .text = &state_dir },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return -first;
	if (all == (module != NULL)) {
		davy_log("expected --module or --all: 'davylamp release --module amdgpu', "
			 "'davylamp release --all'");
		return DAVY_EXIT_USAGE;
	}
	return all ? release_all(socket_path, state_dir) : release_module(socket_path, module);
}
