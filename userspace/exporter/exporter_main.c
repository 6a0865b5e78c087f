/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-exporter, the program of 'davylamp exporter': the agent's status as metrics for
 * Prometheus. It asks the agent's socket as any user may, and changes nothing.
 */
#include "exporter/exporter.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/file.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/standard_fds.h"
#include "store/config_value.h"
#include "store/learned.h"
#include "verb/fleet_status.h"
#include "verb/verb.h"

#define ASK_MS		3000 /* Prometheus waits 10 s by default */
#define INTERVAL_MAX_MS 3600000

static const char usage[] =
	"usage: davylamp exporter [OPTIONS]\n"
	"\n"
	"Serves the state of the running agent as metrics for Prometheus, in the format\n"
	"OpenMetrics, at http://127.0.0.1:19447/metrics. Changes nothing and drops all\n"
	"rights. If no agent answers, davylamp_up is 0. davylamp-exporter(8) lists the\n"
	"metrics.\n"
	"\n"
	"  --listen A:P     address and port; numbers only, such as [::1]:9000\n"
	"  --textfile FILE  write the metrics to FILE, for node_exporter's textfile\n"
	"                   collector, and end\n"
	"  --interval T     with --textfile: write again after each T ('30 s')\n"
	"  --socket PATH    the agent's socket (/run/davylamp/agent.sock)\n"
	"  --state DIR      the agent's state directory, for the state of davylamp-fleet\n"
	"                   (/var/lib/davylamp)\n"
	"  -h, --help       print this text\n";

struct exporter_options {
	const char *listen, *textfile, *socket, *state;
	uint32_t interval_ms;
};

static bool exporter_take_interval(void *interval_ms, const char *text)
{
	return davy_config_time_limit("--interval", text, INTERVAL_MAX_MS, interval_ms);
}

static int exporter_parse(int argc, char **argv, struct exporter_options *o)
{
	const struct davy_option options[] = {
		{ "listen", .text = &o->listen },
		{ "textfile", .text = &o->textfile },
		{ "interval", .take = exporter_take_interval, .arg = &o->interval_ms },
		{ "socket", .text = &o->socket },
		{ "state", .text = &o->state },
		{ 0 },
	};
	int first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);

	if (first <= 0)
		return first;
	if (first < argc)
		davy_log("unexpected argument '%s'; see 'davylamp exporter --help'", argv[first]);
	else if (o->listen && o->textfile)
		davy_log("--listen and --textfile exclude each other");
	else if (o->interval_ms && !o->textfile)
		davy_log("--interval needs --textfile: Prometheus determines when it scrapes");
	else
		return 1;
	return -DAVY_EXIT_USAGE;
}

static int exporter_ask(const char *socket_path, json_t **ret_status)
{
	DAVY_FD fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);
	int err = fd < 0 ? fd
			 : davy_message_ask(fd, json_pack("{s:s}", "op", "status"), ASK_MS,
					    ret_status);

	if (err || !strcmp(davy_message_text(*ret_status, "op"), "status"))
		return err;
	json_decref(*ret_status);
	*ret_status = NULL;
	return -EBADMSG;
}

static void exporter_note(struct davy_exporter *x, int err)
{
	if (err && !x->down)
		davy_log("the agent on '%s' does not answer: %s; davylamp_up is 0", x->socket_path,
			 strerror(-err));
	else if (!err && x->down)
		davy_log("the agent on '%s' answers again", x->socket_path);
	x->down = err != 0;
}

char *davy_exporter_text(struct davy_exporter *x, enum davy_metrics_format format, size_t *ret_size)
{
	struct davy_metrics *set = calloc(1, sizeof(*set));
	json_t *status = NULL, *fleet;
	const char *why;
	char *text = NULL;
	FILE *out = set ? open_memstream(&text, ret_size) : NULL;
	bool good = out != NULL;

	if (good) {
		exporter_note(x, exporter_ask(x->socket_path, &status));
		davy_metrics_of_status(set, status);
		fleet = davy_fleet_status_read(x->state_dir, &why);
		davy_metrics_of_fleet(set, fleet, time(NULL));
		json_decref(fleet);
		good = davy_metrics_print(set, format, out);
		good &= !fclose(out);
	}
	json_decref(status);
	free(set);
	if (good)
		return text;
	free(text);
	return NULL;
}

static int exporter_write(struct davy_exporter *x, const char *path)
{
	size_t size;
	char *text = davy_exporter_text(x, DAVY_METRICS_PLAIN, &size);
	int err = text ? davy_replace_file(path, text, size, 0644) : -ENOMEM;

	free(text);
	if (err)
		davy_log("'%s': %s", path, strerror(-err));
	return err;
}

static int exporter_textfile(struct davy_exporter *x, const struct exporter_options *o)
{
	const struct timespec pause = { .tv_sec = o->interval_ms / 1000,
					.tv_nsec = (long)(o->interval_ms % 1000) * 1000000 };
	int err = davy_exporter_confine(true);

	if (err) {
		davy_log("the rights cannot be dropped: %s; giving up", strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	do
		err = exporter_write(x, o->textfile);
	while (!err && o->interval_ms && !nanosleep(&pause, NULL));
	if (err == -EACCES || err == -EPERM)
		return DAVY_EXIT_NOT_PERMITTED;
	return err ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static int exporter_http(struct davy_exporter *x, const char *address)
{
	int fd = davy_exporter_listen(address);

	if (fd >= 0)
		return davy_exporter_serve(x, fd);
	if (fd == -EINVAL) {
		davy_log("--listen '%s': expected an address and a port in numbers, such as "
			 "'127.0.0.1:19447' or '[::1]:19447'",
			 address);
		return DAVY_EXIT_USAGE;
	}
	davy_log("'%s' cannot be listened on: %s", address, strerror(-fd));
	return fd == -EACCES ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct exporter_options o = { .socket = DAVY_SOCKET_DEFAULT, .state = DAVY_STATE_DIR };
	struct davy_exporter x = { 0 };
	int status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED;
	status = exporter_parse(argc, argv, &o);
	if (status <= 0)
		return -status;
	x.socket_path = o.socket;
	x.state_dir = o.state;
	signal(SIGPIPE, SIG_IGN);
	if (o.textfile)
		return exporter_textfile(&x, &o);
	return exporter_http(&x, o.listen ? o.listen : DAVY_EXPORTER_ADDRESS);
}
