/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shipped policies/backend.conf: a row for each rule and its report (host, engine, model:
 * these backends and settings), and for the look-alikes of each.
 */
#include "policy.h"

#define MS DAVY_NS_PER_MS

struct host {
	const char *driver, *vendor, *kind, *gfx, *generation, *firmware, *kernel;
	uint32_t compute_units;
	uint32_t lockup_ms; /* of Vulkan's queue */
};

/* clang-format off */
static const struct host
	intel_arc_igpu = { "xe", "intel", "igpu", "", "xe2", "", "7.0.0", 0, 0 },
	intel_uhd630 = { "i915", "intel", "igpu", "", "gen9", "", "6.12.0", 0, 0 },
	intel_irisxe = { "i915", "intel", "igpu", "", "gen12", "", "6.12.0", 0, 0 },
	intel_meteor = { "i915", "intel", "igpu", "", "xe-lpg", "", "6.12.0", 0, 0 },
	intel_b580 = { "xe", "intel", "dgpu", "", "xe2", "", "7.0.0", 0, 5000 },
	intel_a770 = { "xe", "intel", "dgpu", "", "xe-hpg", "", "7.0.0", 0, 5000 },
	mi50 = { "amdgpu", "amd", "dgpu", "gfx906", "", "", "6.8.0", 60, 10000 },
	vega56 = { "amdgpu", "amd", "dgpu", "gfx900", "", "", "6.8.0", 56, 10000 },
	renoir = { "amdgpu", "amd", "igpu", "gfx90c", "", "", "7.1.5", 8, 2000 },
	renoir_patient = { "amdgpu", "amd", "igpu", "gfx90c", "", "", "6.12.0", 8, 10000 },
	strix_halo = { "amdgpu", "amd", "igpu", "gfx1151", "", "mes 0x80", "7.0.0", 40, 2000 },
	strix_halo_83 = { "amdgpu", "amd", "igpu", "gfx1151", "", "smc 0x1, mes 0x83", "6.17.9", 40,
			  10000 },
	only_gfx1150 = { "amdgpu", "amd", "", "gfx1150", "", "", "", 0, 0 },
	krackan = { "amdgpu", "amd", "igpu", "gfx1152", "", "", "6.17.9", 8, 10000 },
	phoenix = { "amdgpu", "amd", "igpu", "gfx1103", "", "", "6.12.0", 12, 10000 },
	r9700 = { "amdgpu", "amd", "dgpu", "gfx1201", "", "", "7.0.0-30-generic", 64, 2000 },
	rx7900 = { "amdgpu", "amd", "dgpu", "gfx1100", "", "", "6.17.8-arch1-1", 96, 2000 },
	rx7900_bad = { "amdgpu", "amd", "dgpu", "gfx1100", "", "", "6.17.5-arch1-1", 96, 10000 },
	rx6700 = { "amdgpu", "amd", "dgpu", "gfx1031", "", "", "6.12.0", 40, 10000 },
	rx6400 = { "amdgpu", "amd", "dgpu", "gfx1034", "", "", "7.0.0", 12, 2000 },
	rx5600 = { "amdgpu", "amd", "dgpu", "gfx1010", "", "", "6.12.0", 36, 10000 },
	rtx3090 = { "nvidia", "nvidia", "dgpu", "", "", "", "6.12.0", 82, 0 };
/* clang-format on */

#define OLLAMA DAVY_ENGINE_OLLAMA
#define LLAMA  DAVY_ENGINE_LLAMA_SERVER
#define VLLM   DAVY_ENGINE_VLLM
#define VULKAN DAVY_BACKEND_VULKAN
#define ROCM   DAVY_BACKEND_ROCM
#define CPU    DAVY_BACKEND_CPU
#define SYCL   DAVY_BACKEND_SYCL
#define CUDA   DAVY_BACKEND_CUDA

/*
 * "set" is the complete result: backends in their order, then each setting, then each
 * variable and argument in the order of the file. A '!' before the backend: it is forced. A '?'
 * before the model: it is not known here, a '!': it is.
 */
struct row {
	const struct host *host;
	enum davy_engine engine;
	const char *model;
	enum davy_backend now;
	uint32_t context;
	bool forced;
	const char *set;
};

#define VK_OLLAMA " OLLAMA_LLM_LIBRARY=vulkan OLLAMA_VULKAN=1"
#define VK_SAFE	  " GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM=1"

static const struct row rows[] = {
	/* Models that run on Intel's iGPUs: Vulkan and its safe set. */
	{ &intel_arc_igpu, OLLAMA, "llama3.1:8b", VULKAN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "llama3.3:70b", VULKAN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "gemma2:9b", CPU, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "gemma3:4b", DAVY_BACKEND_UNKNOWN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "qwen3:8b", VULKAN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "mistral:7b", VULKAN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, OLLAMA, "", VULKAN, 0, false,
	  "vulkan cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_arc_igpu, LLAMA, "Qwen3-8B-Q4_K_M.gguf", VULKAN, 0, false,
	  "vulkan sycl cpu;" VK_SAFE },
	{ &intel_arc_igpu, LLAMA, "!gemma-3-4b-it.gguf", VULKAN, 0, false,
	  "vulkan sycl cpu;" VK_SAFE },
	/* Models of which nothing is known begin small on an iGPU, others do not. */
	{ &intel_arc_igpu, LLAMA, "?new-model.gguf", VULKAN, 0, false, "; ubatch=256" VK_SAFE },
	{ &intel_arc_igpu, LLAMA, "!new-model.gguf", VULKAN, 0, false, ";" VK_SAFE },
	{ &intel_b580, LLAMA, "?new-model.gguf", VULKAN, 0, false, "; ubatch_floor=128" },
	{ &intel_uhd630, LLAMA, "?new-model.gguf", SYCL, 0, false, "; cache_type=f16" },
	{ &intel_uhd630, LLAMA, "?new-model.gguf", VULKAN, 0, false,
	  "; ubatch=128 cache_type=f16" VK_SAFE " -fa=auto" },
	{ &renoir, LLAMA, "?new-model.gguf", VULKAN, 67000, false,
	  "vulkan cpu; ubatch=128 (warns)" },
	/* Models that do not: the CPU, strictly. */
	{ &intel_arc_igpu, OLLAMA, "gpt-oss:20b", VULKAN, 0, false,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	{ &intel_arc_igpu, OLLAMA, "gpt-oss:120b", VULKAN, 0, false,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	{ &intel_arc_igpu, OLLAMA, "hf.co/someone/GPTOSS-20B", VULKAN, 0, false,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	{ &intel_arc_igpu, OLLAMA, "gpt4all-j", VULKAN, 0, false,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	{ &intel_uhd630, LLAMA, "gpt-oss-20b-mxfp4.gguf", VULKAN, 0, false, "cpu; (warns)" },
	{ &intel_irisxe, DAVY_ENGINE_OLLAMA_RUNNER, "gpt-oss:20b", VULKAN, 0, false,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	/* A forced Vulkan gets its safe settings and a warning; a forced CPU gets the CPU. */
	{ &intel_arc_igpu, OLLAMA, "gpt-oss:20b", VULKAN, 0, true,
	  "!cpu;" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1 (warns)" },
	{ &intel_arc_igpu, OLLAMA, "gpt-oss:20b", CPU, 0, true,
	  "cpu; OLLAMA_LLM_LIBRARY=cpu (warns)" },
	{ &intel_arc_igpu, OLLAMA, "llama3.1:8b", CPU, 0, true,
	  "vulkan cpu; OLLAMA_LLM_LIBRARY=cpu" },
	/* It is Intel's iGPUs, not others. */
	{ &intel_b580, OLLAMA, "gpt-oss:20b", VULKAN, 0, false, "; ubatch_floor=128" VK_OLLAMA },
	{ &strix_halo, LLAMA, "gpt-oss-20b.gguf", VULKAN, 0, false, "vulkan rocm cpu; ubatch=256" },
	{ &rtx3090, OLLAMA, "gpt-oss:20b", CUDA, 0, false, ";" },
	/* MI50: ROCm dies while it is set up, Vulkan works. */
	{ &mi50, OLLAMA, "llama3.1:8b", ROCM, 0, false, "vulkan cpu;" VK_OLLAMA " (warns)" },
	{ &mi50, OLLAMA, "gpt-oss:20b", DAVY_BACKEND_UNKNOWN, 0, false,
	  "vulkan cpu;" VK_OLLAMA " (warns)" },
	{ &mi50, LLAMA, "x.gguf", ROCM, 0, false, "vulkan cpu; (warns)" },
	{ &mi50, OLLAMA, "llama3.1:8b", ROCM, 0, true, "!vulkan cpu; (warns)" },
	{ &mi50, VLLM, "x", ROCM, 0, false, ";" }, /* has no Vulkan */
	{ &vega56, OLLAMA, "llama3.1:8b", ROCM, 0, false, "vulkan cpu;" VK_OLLAMA " (warns)" },
	{ &rx6700, OLLAMA, "llama3.1:8b", ROCM, 0, false, "vulkan cpu;" VK_OLLAMA },
	{ &rx6700, LLAMA, "x.gguf", ROCM, 0, false, ";" },
	{ &rx7900, OLLAMA, "llama3.1:8b", ROCM, 0, false, ";" },
	/* APUs: Vulkan before ROCm. */
	{ &phoenix, LLAMA, "x.gguf", ROCM, 0, false, "vulkan rocm cpu;" },
	{ &only_gfx1150, LLAMA, "x.gguf", ROCM, 0, false, "vulkan rocm cpu;" },
	{ &phoenix, OLLAMA, "x", ROCM, 0, false, "vulkan cpu;" VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &krackan, LLAMA, "x.gguf", ROCM, 0, true,
	  "vulkan rocm cpu; HSA_OVERRIDE_GFX_VERSION=11.5.0" },
	{ &strix_halo_83, LLAMA, "x.gguf", ROCM, 0, false, "vulkan cpu; (warns)" },
	{ &strix_halo_83, VLLM, "x", ROCM, 0, false, ";" },
	/* Cards and kernels on which ROCm fails. */
	{ &r9700, LLAMA, "x.gguf", ROCM, 0, false, "vulkan rocm cpu;" },
	{ &rx7900_bad, LLAMA, "x.gguf", ROCM, 0, false, "vulkan cpu; (warns)" },
	/* Vulkan under a lockup timeout of 2 s. */
	{ &renoir, LLAMA, "x.gguf", VULKAN, 4096, false, "vulkan cpu; ubatch=256 (warns)" },
	{ &renoir, LLAMA, "x.gguf", VULKAN, 65536, false, "vulkan cpu; ubatch=256 (warns)" },
	{ &renoir, LLAMA, "x.gguf", VULKAN, 67000, false, "vulkan cpu; ubatch=128 (warns)" },
	{ &renoir_patient, LLAMA, "x.gguf", VULKAN, 67000, false, "vulkan cpu; (warns)" },
	{ &strix_halo, OLLAMA, "qwen3.8:27b", VULKAN, 131072, false,
	  "vulkan rocm cpu; ubatch=128" VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &rx6400, LLAMA, "x.gguf", VULKAN, 0, false, "; ubatch=256" },
	{ &rx6400, LLAMA, "x.gguf", VULKAN, 131072, false, "; ubatch=128" },
	{ &rx7900, LLAMA, "x.gguf", VULKAN, 131072, false, ";" }, /* 96 compute units */
	{ &rx5600, LLAMA, "x.gguf", VULKAN, 0, false, "; ubatch=384" },
	/* Intel's older iGPUs, its cards, and SYCL. */
	{ &intel_uhd630, LLAMA, "x.gguf", VULKAN, 0, false,
	  "; ubatch=128 cache_type=f16" VK_SAFE " -fa=auto" },
	{ &intel_irisxe, OLLAMA, "gemma3:4b", VULKAN, 0, false,
	  "vulkan cpu; ubatch=128 cache_type=f16" VK_SAFE VK_OLLAMA " OLLAMA_IGPU_ENABLE=1" },
	{ &intel_meteor, LLAMA, "granite.gguf", VULKAN, 0, false,
	  "; ubatch=128 cache_type=f16" VK_SAFE " -fa=auto" },
	{ &intel_b580, LLAMA, "x.gguf", VULKAN, 0, false, "; ubatch_floor=128" },
	{ &intel_a770, LLAMA, "x.gguf", VULKAN, 0, false, ";" },
	{ &intel_b580, LLAMA, "x.gguf", SYCL, 0, false, "; cache_type=f16" },
	{ &intel_uhd630, LLAMA, "x.gguf", SYCL, 0, false, "; cache_type=f16" },
};

static int load(void **state)
{
	(void)state;
	davy_policy_layers_init(&layers);
	if (davy_policy_file_read("policies/backend.conf", DAVY_LAYER_SHIPPED,
				  &layers.at[DAVY_LAYER_SHIPPED], error))
		fail_msg("%s", error);
	return 0;
}

static struct davy_policy_subject subject_of(const struct row *row)
{
	const struct host *h = row->host;
	struct davy_policy_subject s = {
		.engine = row->engine,
		.backend = row->now,
		.forced = row->forced,
		.context = row->context,
		.compute_units = h->compute_units,
		.known = row->model[0] == '?'	? DAVY_KNOWN_NO
			 : row->model[0] == '!' ? DAVY_KNOWN_YES
						: DAVY_KNOWN_UNREPORTED,
	};

	davy_copy_name(s.model, sizeof(s.model), row->model + strspn(row->model, "?!"));
	davy_copy_name(s.driver, sizeof(s.driver), h->driver);
	davy_copy_name(s.vendor, sizeof(s.vendor), h->vendor);
	davy_copy_name(s.kind, sizeof(s.kind), h->kind);
	davy_copy_name(s.gfx, sizeof(s.gfx), h->gfx);
	davy_copy_name(s.generation, sizeof(s.generation), h->generation);
	davy_copy_name(s.firmware, sizeof(s.firmware), h->firmware);
	davy_copy_name(s.kernel, sizeof(s.kernel), h->kernel);
	s.lockup_ns[VULKAN] = h->lockup_ms * MS;
	s.lockup_ns[ROCM] = DAVY_LOCKUP_NEVER;
	return s;
}

static void add_named(char *text, size_t size, const struct davy_policy_value *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, " %s=%s", list[i].name, list[i].text);
	}
}

static const char *said(const struct davy_effective *e)
{
	static char text[1024];

	snprintf(text, sizeof(text), "%s%s;", e->against ? "!" : "", policy_order(e));
	for (uint32_t i = DAVY_POLICY_UBATCH; i < DAVY_POLICY_WARN; i++) {
		size_t used = strlen(text);

		if (e->value[i].origin.rule)
			snprintf(text + used, sizeof(text) - used, " %s=%s",
				 davy_policy_key_name(i), e->value[i].text);
	}
	add_named(text, sizeof(text), e->environment, e->environment_count);
	add_named(text, sizeof(text), e->argument, e->argument_count);
	if (e->value[DAVY_POLICY_WARN].origin.rule)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (warns)");
	return text;
}

static void each_host_engine_and_model_gets_the_settings_of_its_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct davy_policy_subject s = subject_of(&rows[i]);
		struct davy_effective e = policy_of(&s);

		if (strcmp(said(&e), rows[i].set) != 0)
			fail_msg("row %zu (%s %s, %s): '%s' instead of '%s'", i, s.driver,
				 s.gfx[0] ? s.gfx : s.generation, s.model, said(&e), rows[i].set);
	}
}

/* Without a row that it has a say in, a rule is not tested. */
static void each_rule_has_a_row(void **state)
{
	const struct davy_policy_layer *l = &layers.at[DAVY_LAYER_SHIPPED];

	(void)state;
	for (uint32_t i = 0; i < l->rule_count; i++) {
		bool used = false;

		for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]) && !used; j++) {
			struct davy_policy_subject s = subject_of(&rows[j]);
			struct davy_effective e = policy_of(&s);

			used = davy_rule_fits(l, &l->rule[i], &s, e.backend);
		}
		if (!used)
			fail_msg("no row for rule '%s'", l->rule[i].name);
	}
}

/* Other combinations are unused or harmful; see the rules with their successors. */
static void no_name_is_written_that_no_engine_reads(void **state)
{
	static const char *const known[] = { "OLLAMA_LLM_LIBRARY", "OLLAMA_VULKAN",
					     "OLLAMA_IGPU_ENABLE",
					     "GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM",
					     "HSA_OVERRIDE_GFX_VERSION" };
	const struct davy_policy_layer *l = &layers.at[DAVY_LAYER_SHIPPED];

	(void)state;
	for (uint32_t i = 0; i < l->rule_count; i++)
		for (size_t j = 0; j < l->rule[i].value_count; j++) {
			const struct davy_rule_value *v = &l->rule[i].value[j];
			bool good = v->key != DAVY_POLICY_ENVIRONMENT;

			for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
				good |= davy_same_name(davy_policy_text(l, v->name), known[k]);
			if (!good)
				fail_msg("rule '%s' sets %s", l->rule[i].name,
					 davy_policy_text(l, v->name));
		}
}

/* An override to another family's kernels faults: it is set for this one alone. */
static void kernels_of_another_family_are_never_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct davy_policy_subject s = subject_of(&rows[i]);
		const struct davy_policy_value *v;
		struct davy_effective e;

		s.backend = ROCM;
		s.forced = true;
		e = policy_of(&s);
		v = policy_named(e.environment, e.environment_count, "HSA_OVERRIDE_GFX_VERSION");
		if (strcmp(s.gfx, "gfx1152") != 0)
			assert_null(v);
		else
			assert_string_equal(v->text, "11.5.0");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_host_engine_and_model_gets_the_settings_of_its_report),
		cmocka_unit_test(each_rule_has_a_row),
		cmocka_unit_test(no_name_is_written_that_no_engine_reads),
		cmocka_unit_test(kernels_of_another_family_are_never_taken),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
