/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/process_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/environment.h"
#include "lib/file.h"
#include "lib/text.h"
#include "sensors/proc/cgroup_name.h"
#include "sensors/proc/engine_parts.h"
#include "sensors/proc/listen_port.h"
#include "sensors/proc/model_file.h"
#include "sensors/proc/process_traces.h"

#define TEXT_MAX ((size_t)128 * 1024) /* of a command line or an environment */
#define ENV_MAX	 4096
#define UP_MAX	 4 /* levels from a worker up to its server */

/* Command and environment of a process. */
struct start {
	char command[TEXT_MAX];
	char environment[TEXT_MAX];
	char *argv[DAVY_ARGS_MAX + 1];
	char *envp[ENV_MAX + 1];
	char exe[PATH_MAX];
	char parent[DAVY_COMM_LEN];
	size_t argc;
};

static ssize_t process_info_read_proc(uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "/proc/%u/%s", pid, name);

	return err ? err : davy_read_file(path, buf, size);
}

static void process_info_read_comm(uint32_t pid, char *comm)
{
	memset(comm, 0, DAVY_COMM_LEN);
	if (process_info_read_proc(pid, "comm", comm, DAVY_COMM_LEN) <= 0)
		comm[0] = 0;
	comm[strcspn(comm, "\n")] = 0;
	memset(comm + strlen(comm), 0, DAVY_COMM_LEN - strlen(comm));
}

static size_t process_info_split(char *text, ssize_t size, char **list, size_t max)
{
	size_t count = 0;

	for (char *at = text; size > 0 && at < text + size && count < max; at += strlen(at) + 1)
		list[count++] = at;
	list[count] = NULL;
	return count;
}

static void process_info_read_command(uint32_t pid, struct start *s)
{
	char link[PATH_MAX];
	ssize_t n;

	s->envp[0] = NULL;
	s->parent[0] = s->exe[0] = 0;
	n = process_info_read_proc(pid, "cmdline", s->command, TEXT_MAX);
	s->argc = process_info_split(s->command, n, s->argv, DAVY_ARGS_MAX);
	if (davy_root_path(link, sizeof(link), "/proc/%u/exe", pid))
		return;
	n = readlink(link, s->exe, sizeof(s->exe) - 1);
	s->exe[n > 0 ? n : 0] = 0;
}

static void process_info_identify(struct start *s, bool with_environment,
				  struct davy_engine_facts *facts)
{
	const struct davy_engine_look look = { .argv = s->argv,
					       .envp = with_environment ? s->envp : NULL,
					       .exe = s->exe,
					       .parent = s->parent };

	davy_engine_identify(&look, facts);
}

/* Runs twice: environment and parent are read only for an engine and may add facts. */
static void process_info_read_engine(uint32_t pid, uint32_t ppid, struct start *s,
				     struct davy_engine_facts *facts)
{
	ssize_t n;

	process_info_read_command(pid, s);
	process_info_identify(s, false, facts);
	if (facts->engine == DAVY_ENGINE_NONE)
		return;
	process_info_read_comm(ppid, s->parent);
	n = process_info_read_proc(pid, "environ", s->environment, TEXT_MAX);
	process_info_split(s->environment, n, s->envp, ENV_MAX);
	process_info_identify(s, true, facts);
}

/* A worker with its own title gets its server's arguments. */
static void process_info_read_server(uint32_t ppid, struct start *server,
				     struct davy_engine_facts *facts)
{
	struct davy_engine_facts of_server;
	uint64_t start;
	uint32_t pid = ppid;

	for (int i = 0; pid > 1 && i < UP_MAX; i++) {
		if (davy_process_stat(pid, &ppid, &start))
			return;
		process_info_read_engine(pid, ppid, server, &of_server);
		if (of_server.engine == facts->engine && of_server.model[0]) {
			of_server.role = facts->role;
			of_server.loads_model = facts->loads_model;
			of_server.port = 0; /* only the server listens */
			of_server.port_given = false;
			*facts = of_server;
			return;
		}
		pid = ppid;
	}
}

static void process_info_take_facts(const struct davy_engine_facts *f, struct davy_ev_process *ev)
{
	ev->engine = (uint8_t)f->engine;
	ev->backend = (uint8_t)f->backend;
	ev->role = (uint8_t)f->role;
	ev->port = f->port;
	ev->context_size = f->context_size;
	ev->batch = f->batch;
	ev->ubatch = f->ubatch;
	ev->parallel = f->parallel;
	ev->gpu_layers = f->gpu_layers;
	davy_copy_name(ev->model, sizeof(ev->model), f->model);
	davy_copy_name(ev->cache_k, sizeof(ev->cache_k), f->cache_k);
	davy_copy_name(ev->cache_v, sizeof(ev->cache_v), f->cache_v);
}

/*
 * ggml's backend library, otherwise the driver's library: ggml may be linked in, or it is another
 * engine.
 */
static enum davy_backend process_info_backend(const struct davy_process_traces *t)
{
	bool dynamic = t->ggml_vulkan || t->ggml_hip || t->ggml_cuda || t->ggml_sycl;

	if (t->kfd_fd && (t->ggml_hip || (t->hip && !dynamic)))
		return DAVY_BACKEND_ROCM;
	if (t->nvidia_fd && (t->ggml_cuda || (t->cuda && !dynamic)))
		return DAVY_BACKEND_CUDA;
	if (t->drm_fd && (t->ggml_sycl || (t->level_zero && !dynamic)))
		return DAVY_BACKEND_SYCL;
	if ((t->ggml_vulkan || (t->vulkan && !dynamic)) &&
	    (t->drm_fd || t->nvidia_fd || t->llvmpipe_thread || t->vk_memory || t->drm_shim))
		return DAVY_BACKEND_VULKAN;
	return DAVY_BACKEND_UNKNOWN;
}

static void process_info_name_devices(struct davy_process_info *info,
				      const struct davy_process_traces *t)
{
	struct davy_ev_process *ev = &info->ev;
	const struct davy_used_devices *d = &t->devices;
	/* Mesa opens the GPUs even if its software device does the work. */
	bool software = ev->backend == DAVY_BACKEND_VULKAN && t->vk_memory &&
			(!d->count || !d->device[0].bytes);

	if (d->count && !software)
		davy_copy_name(ev->device, sizeof(ev->device), d->device[0].name);
	for (size_t i = 1; i < d->count && !software; i++)
		davy_copy_name(ev->more_devices[i - 1], DAVY_DEVICE_LEN, d->device[i].name);
	info->device_used = t->in_use;
	if (ev->backend != DAVY_BACKEND_VULKAN || ev->device[0])
		return;
	if (t->llvmpipe_thread || t->vk_memory)
		davy_copy_name(ev->device, sizeof(ev->device), DAVY_LLVMPIPE);
	else if (t->drm_shim)
		davy_copy_name(ev->device, sizeof(ev->device), "drm-shim");
	info->device_used = ev->device[0] != 0;
}

/* In order of proof: conclusive arguments, open device files, a software device. */
static void process_info_conclude(struct davy_process_info *info,
				  const struct davy_process_traces *t, bool loads_model)
{
	struct davy_ev_process *ev = &info->ev;

	info->opens_gpu = t->drm_fd || t->kfd_fd || t->nvidia_fd;
	ev->flags |= t->unreadable ? DAVY_PROCESS_PARTIAL : 0;
	if (ev->backend == DAVY_BACKEND_CPU)
		return; /* devices that it opened only to enumerate are not in use */
	if (process_info_backend(t) != DAVY_BACKEND_UNKNOWN && ev->backend == DAVY_BACKEND_UNKNOWN)
		ev->backend = (uint8_t)process_info_backend(t);
	process_info_name_devices(info, t);
	info->no_gpu = loads_model && !t->unreadable && !info->opens_gpu && !ev->device[0];
}

static void process_info_take_model(const struct davy_model_facts *m,
				    const struct davy_engine_facts *f, struct davy_ev_process *ev)
{
	ev->model_bytes = m->bytes;
	ev->layer_count = m->layer_count;
	ev->trained_context = m->trained_context;
	davy_copy_name(ev->architecture, sizeof(ev->architecture), m->architecture);
	davy_copy_name(ev->quantisation, sizeof(ev->quantisation), m->quantisation);
	if (!ev->context_size && f->llama_cpp && m->trained_context) {
		ev->context_size = m->trained_context;
		ev->flags |= f->fixed_fit ? 0 : DAVY_PROCESS_CONTEXT_ASSUMED;
	}
}

/* The reported path; the mapped file if there is none or if the names are equal. */
static void process_info_read_model(struct davy_process_info *info,
				    const struct davy_process_traces *t,
				    struct davy_engine_facts *f)
{
	struct davy_model_where where = { info->pid, f->model_path, "", f->models_dir };
	struct davy_model_facts m = { 0 };

	if (!f->loads_model && !t->model_file[0])
		return;
	if (!f->model_path || !strcmp(davy_base_name(f->model_path), davy_base_name(t->model_name)))
		where.mapped = t->model_file;
	if (!where.path && t->model_name[0])
		where.path = t->model_name;
	if (!where.path)
		return;
	if (!f->model[0])
		davy_engine_set_model(f, davy_base_name(where.path));
	davy_model_file_read(&where, &m); /* unknown values are 0 */
	if (m.name[0] && !strncmp(f->model, "sha256-", 7))
		davy_engine_set_model(f, m.name);
	davy_copy_name(info->ev.model, sizeof(info->ev.model), f->model);
	process_info_take_model(&m, f, &info->ev);
}

static void process_info_read_port(struct davy_process_info *info,
				   const struct davy_process_traces *t,
				   const struct davy_engine_facts *f)
{
	uint16_t port = f->port_given && f->port
				? 0
				: davy_listen_port(info->pid, t->socket, t->socket_count);

	if (port)
		info->ev.port = port;
	else if (!f->port_given && f->port)
		info->ev.flags |= DAVY_PROCESS_PORT_ASSUMED;
}

static void process_info_read_cgroup(struct davy_process_info *info)
{
	char text[8192] = "";

	if (process_info_read_proc(info->pid, "cgroup", text, sizeof(text)) <= 0)
		return;
	if (info->ev.engine != DAVY_ENGINE_NONE) {
		struct davy_cgroup_name n;

		davy_cgroup_name_read(text, &n);
		info->ev.runtime = (uint8_t)n.runtime;
		info->ev.flags |= n.user_unit ? DAVY_PROCESS_USER_UNIT : 0;
		davy_copy_name(info->ev.unit, sizeof(info->ev.unit), n.unit);
		davy_copy_name(info->ev.container, sizeof(info->ev.container), n.container);
		davy_copy_name(info->ev.pod, sizeof(info->ev.pod), n.pod);
	}
	davy_process_cgroup_take(text, info->cgroup);
}

/* A process that computes on a GPU but whose command line names no known engine. */
static void process_info_read_unknown(struct davy_process_info *info,
				      const struct davy_used_devices *used)
{
	static struct davy_process_traces t;

	davy_process_devices_read(info->pid, used, &t);
	info->opens_gpu = t.drm_fd || t.kfd_fd || t.nvidia_fd;
	if (!info->opens_gpu)
		return;
	davy_process_traces_read(info->pid, used, &t);
	info->ev.engine = (uint8_t)t.library_engine;
	if (info->ev.engine != DAVY_ENGINE_NONE)
		process_info_conclude(info, &t, false);
}

/*
 * ggml unloads a backend that finds no driver. If we have hidden the drivers, the installed
 * backends count: those are what the engine can go back to.
 */
static uint32_t process_info_loaded_backends(const struct davy_process_traces *t,
					     const struct start *s, enum davy_engine engine)
{
	const struct davy_engine_look look = { .argv = s->argv, .envp = s->envp };
	uint32_t now = 0;

	now |= t->ggml_vulkan ? 1u << DAVY_BACKEND_VULKAN : 0;
	now |= t->ggml_hip ? 1u << DAVY_BACKEND_ROCM : 0;
	now |= t->ggml_cuda ? 1u << DAVY_BACKEND_CUDA : 0;
	now |= t->ggml_sycl ? 1u << DAVY_BACKEND_SYCL : 0;
	if (!now && s->exe[0] && davy_environment_hides_gpus(&look))
		now = davy_engine_parts(engine, s->exe);
	return now;
}

static void process_info_read_as_engine(struct davy_process_info *info,
					const struct davy_used_devices *used,
					const struct start *start, struct davy_engine_facts *facts)
{
	static struct davy_process_traces t;
	uint32_t inner;

	davy_process_traces_read(info->pid, used, &t);
	process_info_conclude(info, &t, facts->loads_model);
	process_info_read_model(info, &t, facts);
	process_info_read_port(info, &t, facts);
	info->loaded_backends = process_info_loaded_backends(&t, start, facts->engine);
	davy_copy_name(info->cxx_library, sizeof(info->cxx_library), t.cxx_library);
	davy_copy_name(info->ggml_library, sizeof(info->ggml_library), t.ggml_library);
	davy_copy_name(info->llama_library, sizeof(info->llama_library), t.llama_library);
	inner = davy_process_inner_pid(info->pid);
	info->ev.inner_pid = inner == info->pid ? 0 : inner;
}

/* "start" has two entries: the process, and the server of a worker. "facts" point into them. */
static void process_info_read_all(struct davy_process_info *info, enum davy_look look,
				  const struct davy_used_devices *used, struct start *start)
{
	struct davy_engine_facts facts;

	process_info_read_comm(info->pid, info->ev.comm);
	process_info_read_engine(info->pid, info->ev.ppid, &start[0], &facts);
	info->has_command = start[0].argc > 0;
	if (facts.role == DAVY_ROLE_RUNNER && !facts.model[0])
		process_info_read_server(info->ev.ppid, &start[1], &facts);
	process_info_take_facts(&facts, &info->ev);
	if (info->ev.engine != DAVY_ENGINE_NONE)
		process_info_read_as_engine(info, used, &start[0], &facts);
	else if (look == DAVY_LOOK_DEVICES && info->has_command)
		process_info_read_unknown(info, used);
	process_info_read_cgroup(info);
	info->uid = davy_process_uid(info->pid);
}

int davy_process_info_look(uint32_t pid, enum davy_look look, const struct davy_used_devices *used,
			   struct davy_process_info *ret_info)
{
	struct start *start;
	int err;

	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->pid = pid;
	err = davy_process_stat(pid, &ret_info->ev.ppid, &ret_info->ev.start_ticks);
	if (err)
		return err;
	start = malloc(2 * sizeof(*start));
	if (!start)
		return -ENOMEM;
	process_info_read_all(ret_info, look, used, start);
	free(start);
	return 0;
}

int davy_process_info_read(uint32_t pid, struct davy_process_info *ret_info)
{
	return davy_process_info_look(pid, DAVY_LOOK_COMMAND, NULL, ret_info);
}
