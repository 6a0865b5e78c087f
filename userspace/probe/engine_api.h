/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How one token is asked for in each API, and where an answer tells how many there were. */
#ifndef DL_PROBE_ENGINE_API_H
#define DL_PROBE_ENGINE_API_H

#include "probe/engine_http.h"
#include "probe/probe.h"

struct dl_api_question {
	const char *health; /* its path */
	const char *path;
	char body[768];
	bool idle; /* no model is loaded, and none was named: there is nothing to ask */
};

/* "name" as of --api, NULL: llama-server's own; false: there is none such. */
bool dl_api_known(const char *name);
const char *dl_api_health(const struct dl_probe_options *options);

/* May ask the engine which model it holds. */
void dl_api_question(const struct dl_probe_options *options, struct dl_reply *reply,
		     struct dl_api_question *ret_question);
uint32_t dl_api_tokens(const struct dl_probe_options *options, const struct dl_reply *reply);

/* The first model that is loaded (Ollama's /api/ps, a router's /v1/models); false: none. */
bool dl_api_loaded_model(const struct dl_probe_options *options, struct dl_reply *reply, char *name,
			 size_t size);

#endif
