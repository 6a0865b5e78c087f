/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <stdio.h>

#include "../lib/message.h"
#include "client.h"
#include "verbs.h"

static const char usage[] =
	"usage: davylamp release --module NAME [--socket PATH]\n"
	"\n"
	"The agent's programs pin the kernel modules they are attached to. This makes it\n"
	"let go of one, so that 'rmmod NAME' works; it attaches again by itself when the\n"
	"module is loaded anew, and reports the gap. Needs root.\n"
	"\n"
	"  --module NAME  amdgpu, gpu_sched, ttm, drm\n"
	"  --socket PATH  the agent's socket (/run/davylamp/agent.sock)\n"
	"  -h, --help     this text\n";

int dl_verb_release(int argc, char **argv)
{
	static const struct option names[] = {
		{ "module", required_argument, NULL, 'm' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *socket_path = DL_SOCKET_DEFAULT, *module = NULL;
	json_t *answer = NULL;
	int c, count, err;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) >= 0) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? DL_EXIT_FAILED : DL_EXIT_DONE;
		if (c == 'm')
			module = optarg;
		else if (c == 's')
			socket_path = optarg;
		else
			return DL_EXIT_USAGE;
	}
	if (!module) {
		dl_log("which module? 'davylamp release --module amdgpu'");
		return DL_EXIT_USAGE;
	}
	err = dl_client_ask(socket_path, json_pack("{s:s, s:s}", "op", "release", "module", module),
			    &answer);
	if (err)
		return err;
	count = (int)dl_message_number(answer, "sensors", 0);
	json_decref(answer);
	printf("%d sensor%s let go of module '%s'\n", count, count == 1 ? "" : "s", module);
	return count ? DL_EXIT_DONE : DL_EXIT_NOTHING;
}
