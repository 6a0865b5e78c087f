/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines, titles and environments of every engine, and of programs that look similar. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engines/command.h"
#include "engines/engine.h"

#define SHA	  "sha256-74701a8c35f6c8d9a4b91f3f3497643001d63e0c7a84e085bed452548fa88d45"
#define BLOB	  "/m/blobs/" SHA
#define ARGV(...) ((char *[]){ __VA_ARGS__, NULL })

static struct davy_engine_facts facts;

static void look(char *const argv[], char *const envp[], const char *exe, const char *parent)
{
	const struct davy_engine_look l = { argv, envp, exe, parent, false };

	davy_engine_identify(&l, &facts);
}

struct line {
	char *argv[10];
	enum davy_engine engine;
	enum davy_role role;
	const char *model;
	uint16_t port;
};

static const struct line lines[] = {
	{ { "llama-server", "-m", "/a/b.gguf" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_SERVER,
	  "b.gguf",
	  8080 },
	{ { "llama-server", "--models-dir", "/m", "--port", "9931" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_MANAGER,
	  "",
	  9931 },
	{ { "llama-server", "-hf", "ggml-org/gemma-3-1b-it-GGUF:Q4_0" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_SERVER,
	  "ggml-org/gemma-3-1b-it-GGUF:Q4_0",
	  8080 },
	{ { "llama-server", "--list-devices", "--offline" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_DISCOVERY,
	  "",
	  8080 },
	{ { "/opt/llama-server-vulkan", "-m", "a.gguf" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_SERVER,
	  "a.gguf",
	  8080 },
	{ { "llama-server", "--version" }, DAVY_ENGINE_LLAMA_SERVER, DAVY_ROLE_TOOL, "", 8080 },
	{ { "/r/lib64/ld-linux-x86-64.so.2", "--library-path", "/l:/m", "--argv0", "x",
	    "/r/usr/bin/llama-server", "-m", "a.gguf" },
	  DAVY_ENGINE_LLAMA_SERVER,
	  DAVY_ROLE_SERVER,
	  "a.gguf",
	  8080 },
	{ { "/lib/ld-musl-x86_64.so.1", "/usr/bin/llama-bench", "-m", "a.gguf" },
	  DAVY_ENGINE_LLAMA_CPP,
	  DAVY_ROLE_TOOL,
	  "a.gguf",
	  0 },
	{ { "/usr/lib/ollama/llama-server", "--model", "/x/y.gguf", "--port", "4242" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_RUNNER,
	  "y.gguf",
	  4242 },
	{ { "llama-server", "--model", BLOB, "--port", "7", "--no-webui", "--offline" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_RUNNER,
	  "sha256-74701a8c35f6c8d9a4b91f3f3497643001d63e0c7a84e085bed452548fa88d45",
	  7 },
	{ { "/usr/lib/ollama/llama-server", "--no-webui", "--offline", "--verbose" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_DISCOVERY,
	  "",
	  8080 },
	{ { "/usr/bin/ollama", "runner", "--ollama-engine", "--model", "/x/y", "--port", "33" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_RUNNER,
	  "y",
	  33 },
	{ { "/tmp/ollama1/runners/rocm/ollama_llama_server", "--model", "/x/y", "--ctx-size",
	    "8192", "--port", "33" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_RUNNER,
	  "y",
	  33 },
	{ { "ollama", "gpu-discover", "--lib-dir", "/usr/lib/ollama" },
	  DAVY_ENGINE_OLLAMA_RUNNER,
	  DAVY_ROLE_DISCOVERY,
	  "",
	  0 },
	{ { "ollama", "serve" }, DAVY_ENGINE_OLLAMA, DAVY_ROLE_MANAGER, "", 11434 },
	{ { "ollama", "run", "llama3" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "llama-cli", "-m", "q.gguf", "-p", "hi" },
	  DAVY_ENGINE_LLAMA_CPP,
	  DAVY_ROLE_TOOL,
	  "q.gguf",
	  0 },
	{ { "llama", "serve", "-m", "q.gguf" },
	  DAVY_ENGINE_LLAMA_CPP,
	  DAVY_ROLE_SERVER,
	  "q.gguf",
	  8080 },
	{ { "llama-quantize", "a", "b" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "python3", "-u", "-m", "llama_cpp.server", "--model", "/a/b.gguf" },
	  DAVY_ENGINE_LLAMA_CPP,
	  DAVY_ROLE_SERVER,
	  "b.gguf",
	  8000 },
	{ { "/usr/bin/python3.12", "/usr/local/bin/vllm", "serve", "org/model-7b", "--port", "81" },
	  DAVY_ENGINE_VLLM,
	  DAVY_ROLE_SERVER,
	  "org/model-7b",
	  81 },
	{ { "python3", "-m", "vllm.entrypoints.openai.api_server", "--model=/m/dir" },
	  DAVY_ENGINE_VLLM,
	  DAVY_ROLE_SERVER,
	  "dir",
	  8000 },
	{ { "VLLM::EngineCore_DP0" }, DAVY_ENGINE_VLLM, DAVY_ROLE_RUNNER, "", 0 },
	{ { "VLLM::Worker_TP1" }, DAVY_ENGINE_VLLM, DAVY_ROLE_RUNNER, "", 0 },
	{ { "python3", "vllm", "chat" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "python", "-m", "sglang.launch_server", "--model-path", "org/m" },
	  DAVY_ENGINE_SGLANG,
	  DAVY_ROLE_SERVER,
	  "org/m",
	  30000 },
	{ { "sglang::scheduler_TP0" }, DAVY_ENGINE_SGLANG, DAVY_ROLE_RUNNER, "", 0 },
	{ { "text-generation-launcher", "--model-id", "org/m" },
	  DAVY_ENGINE_TGI,
	  DAVY_ROLE_MANAGER,
	  "org/m",
	  3000 },
	{ { "/opt/conda/bin/python3.11", "/opt/conda/bin/text-generation-server", "serve", "org/m",
	    "--uds-path", "/tmp/x" },
	  DAVY_ENGINE_TGI,
	  DAVY_ROLE_RUNNER,
	  "org/m",
	  0 },
	{ { "local-ai", "run", "--address", ":9090" },
	  DAVY_ENGINE_LOCALAI,
	  DAVY_ROLE_MANAGER,
	  "",
	  9090 },
	{ { "/backends/llama-cpp/llama-cpp-avx2", "--addr", "127.0.0.1:41575" },
	  DAVY_ENGINE_LOCALAI,
	  DAVY_ROLE_RUNNER,
	  "",
	  41575 },
	{ { "/opt/koboldcpp-linux-x64", "--model", "k.gguf", "--usevulkan", "--contextsize",
	    "4096" },
	  DAVY_ENGINE_KOBOLDCPP,
	  DAVY_ROLE_SERVER,
	  "k.gguf",
	  5001 },
	{ { "python3", "koboldcpp.py", "k.gguf" },
	  DAVY_ENGINE_KOBOLDCPP,
	  DAVY_ROLE_SERVER,
	  "k.gguf",
	  5001 },
	{ { "llama-swap", "-config", "c.yaml", "-listen", ":8081" },
	  DAVY_ENGINE_LLAMA_SWAP,
	  DAVY_ROLE_MANAGER,
	  "",
	  8081 },
	{ { "/usr/bin/lemond" }, DAVY_ENGINE_LEMONADE, DAVY_ROLE_MANAGER, "", 13305 },
	{ { "/home/u/.lmstudio/llmster/llmster" },
	  DAVY_ENGINE_LM_STUDIO,
	  DAVY_ROLE_MANAGER,
	  "",
	  1234 },
	{ { "whisper-server", "-m", "ggml-base.bin" },
	  DAVY_ENGINE_WHISPER_CPP,
	  DAVY_ROLE_SERVER,
	  "ggml-base.bin",
	  8080 },
	{ { "sd", "-m", "sd15.gguf", "-p", "a cat" },
	  DAVY_ENGINE_SD_CPP,
	  DAVY_ROLE_TOOL,
	  "sd15.gguf",
	  0 },
	{ { "sd", "before", "after" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "python", "/opt/ComfyUI/main.py", "--listen" },
	  DAVY_ENGINE_COMFYUI,
	  DAVY_ROLE_SERVER,
	  "",
	  8188 },
	{ { "python", "main.py" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "bash", "llama-server" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "grep", "llama-server" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "python3", "-c", "print(1)", "vllm", "serve", "x" },
	  DAVY_ENGINE_NONE,
	  DAVY_ROLE_UNKNOWN,
	  "",
	  0 },
	{ { "python3" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "python3", "-m" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
	{ { "ld-linux-x86-64.so.2", "--library-path" },
	  DAVY_ENGINE_NONE,
	  DAVY_ROLE_UNKNOWN,
	  "",
	  0 },
	{ { "" }, DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN, "", 0 },
};

static void every_engine_is_recognised_by_its_command_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct line *l = &lines[i];

		look(l->argv, NULL, "", "");
		if (facts.engine != l->engine || facts.role != l->role || facts.port != l->port ||
		    strcmp(facts.model, l->model) != 0)
			fail_msg("line %zu ('%s %s'): %s, %s, model '%s', port %u", i, l->argv[0],
				 l->argv[1] ? l->argv[1] : "", davy_engine_name(facts.engine),
				 davy_role_name(facts.role), facts.model, facts.port);
	}
}

static void the_executable_identifies_the_engine_if_argv_does_not(void **state)
{
	(void)state;
	look(ARGV("chat-backend", "-m", "a.gguf"), NULL, "/opt/bin/llama-server (deleted)", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_LLAMA_SERVER);
	look(ARGV("main", "-m", "a.gguf"), NULL, "/r/lib/ld-linux-x86-64.so.2", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("x", "/r/llama-server", "-m", "a.gguf"), NULL, "/r/lib/ld-linux-x86-64.so.2", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_LLAMA_SERVER);
	look(ARGV("python", "main.py"), NULL, "/srv/ComfyUI/venv/bin/python3.11", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_COMFYUI);
	look(ARGV("llama-server", "--model", "/a.gguf"), NULL, "/usr/bin/llama-server", "ollama");
	assert_int_equal(facts.engine, DAVY_ENGINE_OLLAMA_RUNNER);
	look(ARGV("llama-server", "-m", "a.gguf"), NULL, "", "lemond");
	assert_int_equal(facts.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_int_equal(facts.role, DAVY_ROLE_RUNNER);
	look(ARGV("llama-server", "-m", "a.gguf"), ARGV("LLAMA_SERVER_ROUTER_PORT=8080"), "",
	     "llama-server");
	assert_int_equal(facts.role, DAVY_ROLE_RUNNER);
}

/* The executable decides: its title and arguments may be those of an engine. */
static void a_script_with_an_engines_name_is_no_engine(void **state)
{
	(void)state;
	look(ARGV("llama-server", "-m", "a.gguf"), NULL, "/usr/bin/bash", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("/bin/sh", "/opt/llama-server", "-m", "a.gguf"), NULL, "/usr/bin/dash", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("ollama", "serve"), NULL, "/bin/busybox (deleted)", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("python3", "/opt/llama-server", "-m", "a.gguf"), NULL, "/usr/bin/python3.11", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("python3", "/usr/bin/vllm", "serve", "m"), NULL, "/usr/bin/python3.11", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_VLLM);
	look(ARGV("/usr/bin/timeout", "9", "llama-server"), NULL, "/usr/bin/timeout", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
}

#define MODEL "llama-server", "-m", "a.gguf", "-c", "512"

/* Each wrapper of the table, with each form of its options. */
static char *const wrapped[][16] = {
	{ "chroot", "/r", MODEL },
	{ "chroot", "--userspec=u:g", "--groups", "a,b", "--skip-chdir", "/r", MODEL },
	{ "env", MODEL },
	{ "/usr/bin/env", "-i", "A=B", "C=-c", MODEL },
	{ "env", "-", "-u", "A", "-uB", "-vC/x", "--chdir=/", "--block-signal=INT", "A=1", MODEL },
	{ "ionice", "-c3", MODEL },
	{ "ionice", "-c", "2", "-n", "7", "-t", "--class", "idle", MODEL },
	{ "nice", MODEL },
	{ "nice", "-n", "-5", MODEL },
	{ "nice", "-n5", MODEL },
	{ "nice", "-10", MODEL },
	{ "nice", "--10", "--adjustment=3", MODEL },
	{ "nohup", MODEL },
	{ "numactl", "-N", "0", "-m0", "--cpunodebind=0", "--membind", "0", "-l", MODEL },
	{ "numactl", "-C", "0-3", "--interleave=all", "--all", "--", MODEL },
	{ "setpriv", "--reuid=65534", "--regid", "65534", "--clear-groups", MODEL },
	{ "setpriv", "--reset-env", "--no-new-privs", "--inh-caps=-all", MODEL },
	{ "stdbuf", "-oL", "-e", "0", "--input=L", MODEL },
	{ "sudo", "-u", "u", "-nE", "--", "A=B", MODEL },
	{ "sudo", "-uu", "--group=g", "--preserve-env=A,B", "-H", MODEL },
	{ "taskset", "0x3", MODEL },
	{ "taskset", "-c", "0-1", MODEL },
	{ "taskset", "-ac", "0", MODEL },
	{ "timeout", "1h", MODEL },
	{ "timeout", "-k", "5", "-sINT", "--foreground", "--kill-after=1", "1h", MODEL },
	{ "nice", "-n", "5", "env", "A=B", "taskset", "-c", "0", MODEL },
};

static void look_typed(char *const argv[], char *const envp[])
{
	const struct davy_engine_look l = { argv, envp, "", "", true };

	davy_engine_identify(&l, &facts);
}

static void a_typed_command_is_read_through_its_wrappers(void **state)
{
	struct davy_engine_override cpu = { .backend = DAVY_BACKEND_CPU,
					    .settings = { .context = 256 } };

	(void)state;
	for (size_t i = 0; i < sizeof(wrapped) / sizeof(wrapped[0]); i++) {
		char *const *argv = wrapped[i];
		struct davy_args args;
		size_t own = 0;

		look_typed(argv, NULL);
		if (facts.engine != DAVY_ENGINE_LLAMA_SERVER || facts.context_size != 512)
			fail_msg("line %zu ('%s %s')", i, argv[0], argv[1]);
		look(argv, NULL, "", "");
		assert_int_equal(facts.engine, DAVY_ENGINE_NONE); /* a process is not */
		while (strcmp(argv[own], "llama-server") != 0)
			own++;
		assert_int_equal(
			davy_engine_command(
				&(struct davy_engine_facts){ .engine = DAVY_ENGINE_LLAMA_SERVER },
				argv, &cpu, &args),
			0);
		for (size_t word = 0; word <= own; word++)
			assert_string_equal(args.at[word], argv[word]); /* the wrapper's stay */
		assert_true(davy_has_option(args.at + own, "none"));
		assert_string_equal(davy_option(args.at + own, "-c --ctx-size"), "256");
		davy_args_done(&args);
	}
}

/* With these the wrapper runs no command, or it is unknown which word is the command. */
static char *const opaque[][8] = {
	{ "env", "-S", "llama-server -m a.gguf" },
	{ "env", "--split-string=llama-server" },
	{ "env", "--unknown", "llama-server" },
	{ "env", "A=B" },
	{ "env", "-u" },
	{ "ionice", "-p", "1" },
	{ "ionice", "-P", "1", "llama-server" },
	{ "taskset", "-p", "0x3", "1" },
	{ "taskset", "-c" },
	{ "timeout", "1h" },
	{ "sudo", "-i", "llama-server" },
	{ "sudo", "-b", "llama-server" },
	{ "sudo", "-e", "llama-server" },
	{ "numactl", "--hardware" },
	{ "setpriv", "--dump" },
	{ "nice", "-n" },
	{ "chroot", "llama-server" },
};

static void an_unclear_wrapper_is_not_looked_through(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(opaque) / sizeof(opaque[0]); i++) {
		look_typed(opaque[i], NULL);
		if (facts.engine != DAVY_ENGINE_NONE)
			fail_msg("line %zu ('%s %s')", i, opaque[i][0], opaque[i][1]);
	}
	look_typed(ARGV(NULL), NULL);
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look_typed(NULL, NULL);
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
}

static void a_wrapper_sets_and_discards_variables(void **state)
{
	char *env[] = { "LLAMA_ARG_CTX_SIZE=4096", "LLAMA_ARG_PORT=81", NULL };

	(void)state;
	look_typed(ARGV("env", "LLAMA_ARG_PORT=82", "llama-server"), env);
	assert_int_equal(facts.port, 82);
	assert_int_equal(facts.context_size, 4096);
	look_typed(ARGV("env", "-i", "LLAMA_ARG_PORT=83", "llama-server"), env);
	assert_int_equal(facts.port, 83);
	assert_int_equal(facts.context_size, 0);
	look_typed(ARGV("env", "-vi", "llama-server"), env);
	assert_int_equal(facts.port, 8080);
	look_typed(ARGV("sudo", "-u", "u", "LLAMA_ARG_PORT=84", "llama-server"), env);
	assert_int_equal(facts.port, 84);
	assert_int_equal(facts.context_size, 0);
	look_typed(ARGV("nice", "llama-server"), env);
	assert_int_equal(facts.port, 81);
}

static void a_key_is_the_first_that_a_header_can_hold(void **state)
{
	static const struct {
		const char *text, *key;
	} rows[] = { { NULL, "" },	  { "", "" },	   { "k", "k" },
		     { "a,b", "a" },	  { ",b", "" },	   { "a b", "" },
		     { "a\r\nX: y", "" }, { "a\x7f", "" }, { "sk-\xc3\xa4", "" } };
	char key[DAVY_API_KEY_LEN], longest[DAVY_API_KEY_LEN + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		davy_api_key_take(key, rows[i].text);
		assert_string_equal(key, rows[i].key);
	}
	memset(longest, 'k', sizeof(longest));
	longest[DAVY_API_KEY_LEN] = 0;
	davy_api_key_take(key, longest);
	assert_string_equal(key, "");
	davy_api_key_take(key, longest + 1);
	assert_string_equal(key, longest + 1);
	look(ARGV("llama-server", "-m", "a.gguf", "--api-key", "first,second"),
	     ARGV("LLAMA_API_KEY=other"), "", "");
	assert_string_equal(facts.api_key, "first");
	look(ARGV("llama-server", "-m", "a.gguf"), ARGV("LLAMA_API_KEY=other"), "", "");
	assert_string_equal(facts.api_key, "other");
	look(ARGV("vllm", "serve", "m", "--api-key", "vk"), NULL, "", "");
	assert_string_equal(facts.api_key, "vk");
	look(ARGV("llama-server", "-m", "a.gguf"), NULL, "", "");
	assert_string_equal(facts.api_key, "");
}

static void settings_come_from_arguments_then_variables_then_defaults(void **state)
{
	char *env[] = { "PATH=/bin",
			"LLAMA_ARG_CTX_SIZE=4096",
			"LLAMA_ARG_UBATCH=128",
			"LLAMA_ARG_MODEL=/e/env.gguf",
			"LLAMA_ARG_PORT=9999",
			"LLAMA_ARG_N_PARALLEL=3",
			"LLAMA_ARG_N_GPU_LAYERS=all",
			"LLAMA_ARG_DEVICE=none",
			NULL };

	(void)state;
	look(ARGV("llama-server", "-m", "/a/b.gguf", "-ub", "64"), env, "", "");
	assert_string_equal(facts.model, "b.gguf");
	assert_string_equal(facts.model_path, "/a/b.gguf");
	assert_int_equal(facts.ubatch, 64);
	assert_int_equal(facts.context_size, 4096);
	assert_int_equal(facts.batch, 2048);
	assert_int_equal(facts.parallel, 3);
	assert_int_equal(facts.port, 9999);
	assert_int_equal(facts.gpu_layers, DAVY_LAYERS_ALL);
	assert_int_equal(facts.backend, DAVY_BACKEND_CPU);
	look(ARGV("llama-server", "-c", "256", "-ngl", "33", "-ctk", "q8_0"), env, "", "");
	assert_string_equal(facts.model, "env.gguf");
	assert_int_equal(facts.batch, 256); /* bounded by the context */
	assert_int_equal(facts.ubatch, 128);
	assert_int_equal(facts.gpu_layers, 33);
	assert_string_equal(facts.cache_k, "q8_0");
	assert_string_equal(facts.cache_v, "f16");
	look(ARGV("llama-server", "-m", "x", "-m", "y", "--ubatch-size", "garbage", "-c", "-5"),
	     NULL, "", "");
	assert_string_equal(facts.model, "y");
	assert_int_equal(facts.ubatch, 512);
	assert_int_equal(facts.context_size, 0);
	look(ARGV("ollama", "serve"),
	     ARGV("OLLAMA_HOST=http://[::1]:1234", "OLLAMA_NUM_PARALLEL=2"), "", "");
	assert_int_equal(facts.port, 1234);
	assert_int_equal(facts.parallel, 2);
	look(ARGV("ollama", "serve"), ARGV("OLLAMA_HOST=[::1]"), "", "");
	assert_int_equal(facts.port, 11434);
	look(ARGV("vllm", "serve", "m", "--max-model-len", "32k", "--served-model-name", "Big"),
	     NULL, "", "");
	assert_int_equal(facts.context_size, 32000);
	assert_string_equal(facts.model, "Big");
}

static void hostile_arguments_are_survived(void **state)
{
	static char *argv[DAVY_ARGS_MAX + 1];
	static char big[100000];

	(void)state;
	look(ARGV("llama-server", "-m", "/a/\n\x1b[2J\xff;x.gguf", "--port",
		  "99999999999999999999"),
	     NULL, "", "");
	assert_string_equal(facts.model, "\\x0a\\x1b[2J\\xff,x.gguf");
	assert_int_equal(facts.port, 0);
	memset(big, 'a', sizeof(big) - 1);
	look(ARGV("llama-server", "-m", big, "-c", "99999999999"), ARGV(big), big, big);
	assert_true(strlen(facts.model) < sizeof(facts.model));
	assert_int_equal(facts.context_size, 0);
	for (size_t i = 0; i < DAVY_ARGS_MAX; i++)
		argv[i] = "-m";
	argv[0] = "llama-server";
	look(argv, NULL, "", "");
	look(ARGV("--", "="), ARGV("=", "==", ""), "/", "");
	assert_int_equal(facts.engine, DAVY_ENGINE_NONE);
	look(ARGV("llama-server", "/", "-m", "/"), NULL, "/", "");
	assert_int_equal(davy_engine_of_library("libllama.so.0"), DAVY_ENGINE_LLAMA_CPP);
	assert_int_equal(davy_engine_of_library("koboldcpp_vulkan.so"), DAVY_ENGINE_KOBOLDCPP);
	assert_int_equal(davy_engine_of_library("libtorch_hip.so"), DAVY_ENGINE_GENERIC);
	assert_int_equal(davy_engine_of_library("libc.so.6"), DAVY_ENGINE_NONE);
}

static void words_fit_whole_or_by_their_star(void **state)
{
	(void)state;
	assert_true(davy_word_in("a bc*", "bcd"));
	assert_true(davy_word_in("*.x", "a.x"));
	assert_false(davy_word_in("a bc*", "b"));
	assert_false(davy_word_in("a bc", "a bc"));
	assert_false(davy_word_in("", ""));
	assert_false(davy_word_in(NULL, "a"));
	assert_int_equal(davy_token_count("8K"), 8192);
	assert_int_equal(davy_token_count("4294967296"), 0);
	assert_int_equal(davy_token_count(" 8"), 0);
	assert_int_equal(davy_port("65536"), 0);
}

/* As the kernel cuts it: 15 bytes. */
static void a_comm_is_as_much_of_a_program_as_it_has_room_for(void **state)
{
	static const struct {
		const char *comm;
		enum davy_engine engine;
	} comms[] = {
		{ "llama-server", DAVY_ENGINE_LLAMA_SERVER },
		{ "llama-server-vu", DAVY_ENGINE_LLAMA_SERVER },
		{ ".llama-server-w", DAVY_ENGINE_LLAMA_SERVER },
		{ "llama-cli", DAVY_ENGINE_LLAMA_CPP },
		{ "ollama", DAVY_ENGINE_OLLAMA },
		{ "ollama_llama_se", DAVY_ENGINE_OLLAMA },
		{ "sglang::schedul", DAVY_ENGINE_SGLANG },
		{ "VLLM::EngineCor", DAVY_ENGINE_VLLM },
		{ "vllm", DAVY_ENGINE_VLLM },
		{ "text-generation", DAVY_ENGINE_TGI },
		{ "local-ai", DAVY_ENGINE_LOCALAI },
		{ "lemond", DAVY_ENGINE_LEMONADE },
		{ "llmster", DAVY_ENGINE_LM_STUDIO },
		{ "koboldcpp", DAVY_ENGINE_KOBOLDCPP },
		{ "ollam", DAVY_ENGINE_NONE },
		{ "ollamas", DAVY_ENGINE_NONE },
		{ "python3", DAVY_ENGINE_NONE },
		{ "", DAVY_ENGINE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++)
		if (davy_engine_of_comm(comms[i].comm) != comms[i].engine)
			fail_msg("'%s' is %d", comms[i].comm, davy_engine_of_comm(comms[i].comm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_is_recognised_by_its_command_line),
		cmocka_unit_test(the_executable_identifies_the_engine_if_argv_does_not),
		cmocka_unit_test(a_script_with_an_engines_name_is_no_engine),
		cmocka_unit_test(a_typed_command_is_read_through_its_wrappers),
		cmocka_unit_test(an_unclear_wrapper_is_not_looked_through),
		cmocka_unit_test(a_wrapper_sets_and_discards_variables),
		cmocka_unit_test(a_key_is_the_first_that_a_header_can_hold),
		cmocka_unit_test(settings_come_from_arguments_then_variables_then_defaults),
		cmocka_unit_test(hostile_arguments_are_survived),
		cmocka_unit_test(words_fit_whole_or_by_their_star),
		cmocka_unit_test(a_comm_is_as_much_of_a_program_as_it_has_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
