/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The request for one token in each API, and the number of tokens in the answer. */
#ifndef DAVY_ENGINE_API_H
#define DAVY_ENGINE_API_H

#include "probe/engine_http.h"
#include "probe/probe.h"

struct davy_api_question {
	const char *path;
	char body[768];
	bool idle; /* no model is loaded or named: no request */
};

/* "name": of --api; NULL: llama-server's. False: unknown. */
bool davy_api_known(const char *name);

/* The API is "none": no token is asked for. */
bool davy_api_silent(const struct davy_probe_options *options);

/* May ask the engine for its loaded model. */
void davy_api_question(const struct davy_probe_options *options, struct davy_reply *reply,
		       struct davy_api_question *ret_question);
uint32_t davy_api_tokens(const struct davy_probe_options *options, const struct davy_reply *reply);

/* The text of an error that means a failed graph; NULL: another error. */
const char *davy_api_failed_graph(const struct davy_reply *reply);

/* The first model that is loaded, from the list of loaded models; false: none. */
bool davy_api_loaded_model(const struct davy_probe_options *options, struct davy_reply *reply,
			   char *name, size_t size);

#endif
