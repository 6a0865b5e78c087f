/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engines that run on this host, and the agent. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "act/unit.h"
#include "engines/engine.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "lib/text.h"
#include "sensors/proc/process_info.h"
#include "verb/client.h"
#include "doctor/read.h"

static bool running_is_engine(uint32_t pid, struct davy_process_info *info)
{
	return !davy_process_info_look(pid, DAVY_LOOK_COMMAND, NULL, info) &&
	       info->ev.engine != DAVY_ENGINE_NONE && info->ev.role != DAVY_ROLE_RUNNER &&
	       info->ev.role != DAVY_ROLE_DISCOVERY;
}

static void running_take(const struct davy_process_info *info, struct davy_doctor_running *r)
{
	*r = (struct davy_doctor_running){ .pid = info->pid };
	davy_copy_name(r->engine, sizeof(r->engine), davy_engine_name(info->ev.engine));
	if (!(info->ev.flags & DAVY_PROCESS_USER_UNIT) && davy_unit_name_valid(info->ev.unit))
		davy_copy_name(r->unit, sizeof(r->unit), info->ev.unit);
}

size_t davy_running_find(struct davy_doctor_running *list, size_t max)
{
	struct davy_process_info *info = malloc(sizeof(*info));
	struct dirent *entry;
	size_t count = 0;
	DIR *dir = opendir("/proc");

	while (info && dir && count < max && (entry = readdir(dir))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (pid && running_is_engine(pid, info))
			running_take(info, &list[count++]);
	}
	if (dir)
		closedir(dir);
	free(info);
	return count;
}

static bool unit_is_installed(void)
{
	static const char *const folders[] = { "/etc/systemd/system",
					       "/usr/local/lib/systemd/system",
					       "/usr/lib/systemd/system", "/lib/systemd/system" };
	char path[PATH_MAX];

	if (davy_root_path(path, sizeof(path), "/run/systemd/system") || access(path, F_OK))
		return false; /* systemd does not run */
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!davy_root_path(path, sizeof(path), "%s/davylamp.service", folders[i]) &&
		    !access(path, F_OK))
			return true;
	return false;
}

static void lamp_mark_adopted(struct davy_doctor_facts *facts, const json_t *process)
{
	for (size_t i = 0; i < facts->running_count; i++)
		if (facts->running[i].pid == (uint32_t)davy_message_number(process, "pid", 0))
			facts->running[i].adopted = davy_message_number(process, "workload", 0) > 0;
}

void davy_read_lamp(struct davy_doctor_facts *facts, const char *socket_path)
{
	struct davy_doctor_lamp *lamp = &facts->lamp;
	json_t *answer = NULL, *process;
	size_t i;

	facts->running_count = davy_running_find(facts->running, DAVY_DOCTOR_RUNNING);
	lamp->installed = unit_is_installed();
	lamp->runs = davy_client_find(socket_path) == DAVY_EXIT_DONE;
	if (!lamp->runs ||
	    davy_client_ask(socket_path, json_pack("{s:s}", "op", "status"), &answer))
		return;
	davy_copy_name(lamp->mode, sizeof(lamp->mode), davy_message_text(answer, "mode"));
	json_array_foreach(json_object_get(answer, "processes"), i, process)
		lamp_mark_adopted(facts, process);
	json_decref(answer);
}
