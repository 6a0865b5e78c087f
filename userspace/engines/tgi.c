/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text Generation Inference: a launcher, a listening router, and a Python shard per GPU. All
 * arguments of the launcher may be variables, and the shards inherit them.
 */
#include "engines/table.h"
#include "lib/text.h"

#include <string.h>

static bool tgi_read(const struct davy_engine_look *look, const struct davy_command *c,
		     struct davy_engine_facts *facts)
{
	bool shard = !strcmp(c->program, "text-generation-server");
	const char *model = davy_setting(look, c, "--model-id", "MODEL_ID");

	if (shard && (!c->args[0] || strcmp(c->args[0], "serve") != 0))
		return false; /* downloads and conversions */
	if (shard && c->args[1] && c->args[1][0] != '-')
		model = c->args[1];
	facts->role = shard ? DAVY_ROLE_RUNNER : DAVY_ROLE_MANAGER;
	facts->loads_model = shard;
	if (model)
		davy_engine_set_model(facts, model[0] == '/' ? davy_base_name(model) : model);
	facts->context_size =
		davy_token_count(davy_setting(look, c, "--max-total-tokens", "MAX_TOTAL_TOKENS"));
	facts->batch = davy_token_count(
		davy_setting(look, c, "--max-batch-prefill-tokens", "MAX_BATCH_PREFILL_TOKENS"));
	facts->ubatch = facts->batch;
	facts->parallel = davy_token_count(
		davy_setting(look, c, "--max-concurrent-requests", "MAX_CONCURRENT_REQUESTS"));
	if (!shard)
		davy_set_port(facts, davy_setting(look, c, "-p --port", "PORT"), 3000);
	return true;
}

/* router/src/server.rs of 3.x; the launcher's port is its router's */
static const struct davy_engine_api tgi_api = { "openai", "/health", "/v1/models" };

const struct davy_engine_ops davy_engine_tgi = {
	.engine = DAVY_ENGINE_TGI,
	.marks = { .programs = "text-generation-launcher text-generation-router* "
			       "text-generation-server",
		   .python = true },
	.read = tgi_read,
	.api[DAVY_ROLE_MANAGER] = &tgi_api,
	.backends = DAVY_BACKENDS_TORCH,
	.settings = { .ubatch = "--max-batch-prefill-tokens",
		      .context = "--max-total-tokens",
		      .parallel = "--max-concurrent-requests" },
};
