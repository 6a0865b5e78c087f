/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers as in the sources; after a device loss what a request gets while the process lives:
 *   llama.cpp b11669, tools/server/server.cpp and server-context.cpp (the errors recorded)
 *   Ollama fb307609, server/routes.go, api/types.go, llm/llama_server.go; 0.24: runner/
 *   llama-swap v250, internal/server/server.go and api.go: passes errors of its models on
 *   lemonade 11.7.0, src/cpp/server/server.cpp (health) and router.cpp (get_all_loaded_models)
 *   LocalAI 4.9.0, core/http/endpoints/localai/system.go, core/schema/localai.go, core/http/app.go
 *   LM Studio: its documentation (REST API v0) and the error of INCIDENTS; the source is closed
 *   KoboldCpp 1.123, koboldcpp.py: one generation at a time; the others wait
 *   vLLM 0.20, entrypoints/openai: issue 24495 has the error; /health: v1/engine/async_llm.py
 *   SGLang 0.5, entrypoints/http_server.py: /health returns 200 while a request runs
 *   TGI 3.3, router/src/server.rs: InferError is 424; its router listens for the launcher
 *   llama-cpp-python 0.3.35, llama_cpp/server/app.py, errors.py and llama_cpp/_internals.py
 *   llamafile 0.9: llama.cpp's server of 2024
 *   whisper.cpp 1.9.3, examples/server/server.cpp; stable-diffusion.cpp, routes_openai.cpp
 *   ComfyUI 0.3, server.py and comfy/cli_args.py; ggml's RPC server: no HTTP
 */
#include "tests/walk/standin.h"

#define TOKEN	   "{\"content\":\"4\",\"tokens_predicted\":1}"
#define COMPLETION "{\"choices\":[{\"text\":\" 4\"}],\"usage\":{\"completion_tokens\":1}}"
#define ONE_MODEL  "{\"object\":\"list\",\"data\":[{\"id\":\"org/m1\",\"object\":\"model\"}]}"
#define LLAMA_ERROR                                                                                \
	"{\"error\":{\"code\":500,\"message\":\"Compute error.\",\"type\":\"server_error\"}}"
#define HEALTHY(path, text)                                                                        \
	{                                                                                          \
		.request = "GET " path, .body = text                                               \
	}
#define COMPLETES(name, status, error)                                                             \
	{                                                                                          \
		.request = "POST /v1/completions", .body = COMPLETION,                             \
		.asks = "\"model\":\"" name "\"", .wedged = status, .wedged_body = error           \
	}
#define VULKAN .gpu = STANDIN_VULKAN, .libraries = { "libggml-vulkan.so" }
#define CUDA   .gpu = STANDIN_CUDA, .libraries = { "libcudart.so.12" }

const struct standin_row standin_rows[] = {
	{ .name = "llama_server",
	  .port_option = "--port",
	  VULKAN,
	  .cpu_option = "--device none",
	  .routes = { HEALTHY("/health", "{\"status\":\"ok\"}"),
		      { "POST /completion", TOKEN, "\"n_predict\":1", 500, LLAMA_ERROR } } },
	{ .name = "ollama",
	  .port_variable = "OLLAMA_HOST",
	  .child_program = "lib/ollama/llama-server",
	  .child = { "/usr/lib/ollama/llama-server", "--model", "/m/blobs/sha256-1", "--port",
		     "18398", "--no-webui", "--offline" },
	  .child_row = "ollama_runner",
	  .routes = { HEALTHY("/api/version", "{\"version\":\"0.33.0\"}"),
		      HEALTHY("/api/ps", "{\"models\":[{\"name\":\"m1\",\"model\":\"m1\"}]}"),
		      { "POST /api/generate",
			"{\"model\":\"m1\",\"response\":\"4\",\"eval_count\":1}",
			"\"model\":\"m1\"", 500, "{\"error\":\"Compute error.\"}" } } },
	{ .name = "ollama_runner",
	  .port_option = "--port",
	  VULKAN,
	  .routes = { HEALTHY("/health", "{\"status\":\"ok\"}"),
		      { "POST /completion", TOKEN, "\"n_predict\":1", 500, LLAMA_ERROR } } },
	{ .name = "ollama_0_24",
	  .port_variable = "OLLAMA_HOST",
	  .child_program = "ollama",
	  .child = { "/usr/bin/ollama", "runner", "--ollama-engine", "--model", "/m/blobs/sha256-1",
		     "--port", "18398" },
	  .child_row = "ollama_runner",
	  .routes = { HEALTHY("/api/version", "{\"version\":\"0.24.0\"}"),
		      HEALTHY("/api/ps", "{\"models\":[{\"name\":\"m1\",\"model\":\"m1\"}]}"),
		      { "POST /api/generate",
			"{\"model\":\"m1\",\"response\":\"4\",\"eval_count\":1}",
			"\"model\":\"m1\"", 500, "{\"error\":\"llama_decode failed\"}" } } },
	{ .name = "llama_swap",
	  .port_option = "-listen",
	  .child_program = "llama-server",
	  .child = { "llama-server", "-m", "/m/m1.gguf", "--port", "18398" },
	  .child_row = "llama_server",
	  .routes = { HEALTHY("/health", "OK"),
		      HEALTHY("/running", "{\"running\":[{\"model\":\"m1\",\"state\":\"ready\"}]}"),
		      COMPLETES("m1", 500, LLAMA_ERROR) } },
	{ .name = "lemonade",
	  .port_option = "--port",
	  .child_program = "llama-server",
	  .child = { "/var/lib/lemonade/bin/llamacpp/vulkan/llama-server", "-m", "/m/m1.gguf",
		     "--port", "18398" },
	  .child_row = "llama_server",
	  .routes = { HEALTHY("/api/v1/health",
			      "{\"status\":\"ok\",\"all_models_loaded\":[{\"model_name\":\"w\","
			      "\"type\":\"audio\",\"loaded\":true},{\"model_name\":\"m1\","
			      "\"type\":\"llm\",\"loaded\":true}]}"),
		      COMPLETES("m1", 500, LLAMA_ERROR) } },
	{ .name = "localai",
	  .port_option = "--address",
	  .child_program = "llama-cpp-fallback",
	  .child = { "/usr/share/localai/backends/llama-cpp-fallback", "--addr",
		     "127.0.0.1:18398" },
	  .child_row = "localai_backend",
	  .routes = { HEALTHY("/readyz", "OK"),
		      HEALTHY("/system", "{\"backends\":[\"llama-cpp\"],\"loaded_models\":"
					 "[{\"id\":\"m1\"}]}"),
		      COMPLETES("m1", 500,
				"{\"error\":{\"code\":500,\"message\":\"rpc error: code = Internal "
				"desc = Compute error.\",\"type\":\"\"}}") } },
	{ .name = "localai_backend", .port_option = "--addr", VULKAN }, /* gRPC */
	{ .name = "koboldcpp",
	  .port_option = "--port",
	  .gpu = STANDIN_VULKAN,
	  .libraries = { "koboldcpp_vulkan.so", "libvulkan.so.1" },
	  .cpu_option = "--usecpu",
	  .routes = { HEALTHY("/api/extra/perf", "{\"last_process\":0,\"queue\":0,\"idle\":1}"),
		      HEALTHY("/v1/models", "{\"object\":\"list\",\"data\":[{\"id\":"
					    "\"koboldcpp/m1\",\"object\":\"model\"}]}"),
		      COMPLETES("koboldcpp/m1", STANDIN_HANGS, "") } },
	{ .name = "vllm",
	  .port_option = "--port",
	  .child_program = "vllm",
	  .child = { "VLLM::EngineCore" },
	  .child_row = "vllm_core",
	  .routes = { { "GET /health", "", NULL, 503, "" },
		      HEALTHY("/v1/models", ONE_MODEL),
		      COMPLETES("org/m1", 500,
				"{\"error\":{\"message\":\"EngineCore encountered an issue. See "
				"stack trace (above) for the root cause.\",\"type\":\"Internal "
				"Server Error\",\"param\":null,\"code\":500}}") } },
	{ .name = "vllm_core", CUDA },
	{ .name = "sglang",
	  .port_option = "--port",
	  .child_program = "python3",
	  .child = { "sglang::scheduler" },
	  .child_row = "sglang_scheduler",
	  .routes = { HEALTHY("/health", ""), HEALTHY("/v1/models", ONE_MODEL),
		      COMPLETES("org/m1", STANDIN_HANGS, "") } },
	{ .name = "sglang_scheduler", CUDA },
	{ .name = "tgi",
	  .port_option = "--port",
	  .child_program = "text-generation-server",
	  .child = { "text-generation-server", "serve", "org/m1" },
	  .child_row = "tgi_shard",
	  .routes = { HEALTHY("/health", ""), HEALTHY("/v1/models", ONE_MODEL),
		      COMPLETES("org/m1", 424,
				"{\"error\":\"Request failed during generation: Server error: "
				"CUDA error\",\"error_type\":\"generation\"}") } },
	{ .name = "tgi_shard", CUDA },
	{ .name = "whisper_cpp",
	  .port_option = "--port",
	  VULKAN,
	  .cpu_option = "--no-gpu",
	  .routes = { { "GET /health", "{\"status\":\"ok\"}", NULL, 503,
			"{\"status\":\"loading model\"}" } } },
	{ .name = "sd_cpp",
	  .port_option = "--listen-port",
	  VULKAN,
	  .routes = { HEALTHY("/v1/models", "{\"data\":[{\"id\":\"sd-cpp-local\",\"object\":"
					    "\"model\",\"owned_by\":\"local\"}]}") } },
	{ .name = "comfyui",
	  .port_option = "--port",
	  CUDA,
	  .cpu_option = "--cpu",
	  .routes = { HEALTHY("/system_stats", "{\"system\":{},\"devices\":[]}") } },
	{ .name = "llama_python",
	  .port_option = "--port",
	  VULKAN,
	  .routes = { HEALTHY("/v1/models", ONE_MODEL),
		      COMPLETES("org/m1", 500,
				"{\"error\":{\"message\":\"llama_decode returned -3\",\"type\":"
				"\"internal_server_error\",\"param\":null,\"code\":null}}") } },
	{ .name = "llama_tool",
	  .port_option = "--port",
	  VULKAN,
	  .routes = { HEALTHY("/v1/models", ONE_MODEL), COMPLETES("org/m1", 500, LLAMA_ERROR) } },
	{ .name = "llama_tool_rpc", .port_option = "-p", VULKAN },
	{ .name = "lm_studio",
	  .port_option = "--port",
	  VULKAN,
	  .routes = { HEALTHY("/v1/models", ONE_MODEL),
		      HEALTHY("/api/v0/models",
			      "{\"data\":[{\"id\":\"e\",\"type\":\"embeddings\",\"state\":"
			      "\"loaded\"},{\"id\":\"m0\",\"type\":\"llm\",\"state\":"
			      "\"not-loaded\"},{\"id\":\"m1\",\"type\":\"llm\",\"state\":"
			      "\"loaded\"}]}"),
		      COMPLETES("m1", 500,
				"{\"error\":\"Engine protocol predict stream returned an error: "
				"{\\\"code\\\":500,\\\"message\\\":\\\"Compute error.\\\"}\"}") } },
	{ .name = "generic",
	  .port_option = "--port",
	  .gpu = STANDIN_CUDA,
	  .libraries = { "libtorch_cuda.so", "libcudart.so.12" } },
};

const size_t standin_row_count = sizeof(standin_rows) / sizeof(standin_rows[0]);
