/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every engine of the table from its command line to the check by davylamp-probe. A stand-in on
 * 127.0.0.1 answers what the engine's source says, and 404 to everything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these four first */
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/check.h"
#include "engines/tell.h"
#include "lib/file.h"

#define ROUTES_MAX 4
#define WORDS_MAX  9

/* "%" in a word is the port. */
struct engine_case {
	const char *words[WORDS_MAX];
	const char *env; /* NULL: none */
	const char *exe; /* NULL: unknown */
	enum davy_engine engine;
	bool silent;	 /* it generates no token */
	const char *cpu; /* a word of its command on the CPU; NULL: variables; "": unsupported */
	struct route {
		const char *request;
		const char *body;
		const char *asks; /* a part of the request's body; NULL: any */
		int status;	  /* 0: the stand-in's */
	} routes[ROUTES_MAX];
};

#define COMPLETION "{\"choices\":[{\"text\":\" 4\"}],\"usage\":{\"completion_tokens\":1}}"
#define ONE_MODEL  "{\"object\":\"list\",\"data\":[{\"id\":\"m1\",\"object\":\"model\"}]}"
#define ASKS(name)                                                                                 \
	{                                                                                          \
		"POST /v1/completions ", COMPLETION, "\"model\":\"" name "\""                      \
	}

static const struct engine_case cases[] = {
	{ .words = { "llama-server", "-m", "/m.gguf", "--port", "%" },
	  .cpu = "none",
	  .engine = DAVY_ENGINE_LLAMA_SERVER,
	  .routes = { { "GET /health ", "{\"status\":\"ok\"}" },
		      { "POST /completion ", "{\"content\":\"4\",\"tokens_predicted\":1}",
			"\"n_predict\":1" } } },
	{ .words = { "llama-server", "--models-dir", "/m", "--port", "%" },
	  .cpu = "none",
	  .engine = DAVY_ENGINE_LLAMA_SERVER,
	  .routes = { { "GET /health ", "{\"status\":\"ok\"}" },
		      { "GET /v1/models ", "{\"models\":[],\"data\":["
					   "{\"id\":\"m0\",\"status\":{\"value\":\"unloaded\"}},"
					   "{\"id\":\"m1\",\"status\":{\"value\":\"loaded\"}}]}" },
		      ASKS("m1") } },
	{ .words = { "ollama", "serve" },
	  .env = "OLLAMA_HOST=127.0.0.1:%",
	  .engine = DAVY_ENGINE_OLLAMA,
	  .routes = { { "GET /api/version ", "{\"version\":\"0.33.0\"}" },
		      { "GET /api/ps ", "{\"models\":[{\"name\":\"m1\",\"model\":\"m1\"}]}" },
		      { "POST /api/generate ", "{\"response\":\"4\",\"eval_count\":1}",
			"\"model\":\"m1\"" } } },
	{ .words = { "/usr/lib/ollama/llama-server", "--model", "/m/blobs/sha256-1", "--port",
		     "%" },
	  .engine = DAVY_ENGINE_OLLAMA_RUNNER,
	  .routes = { { "GET /health ", "{\"status\":\"ok\"}" },
		      { "POST /completion ", "{\"content\":\"4\",\"tokens_predicted\":1}",
			"\"n_predict\":1" } } },
	{ .words = { "vllm", "serve", "org/m1", "--port", "%" },
	  .cpu = "",
	  .engine = DAVY_ENGINE_VLLM,
	  .routes = { { "GET /health ", "" }, { "GET /v1/models ", ONE_MODEL }, ASKS("m1") } },
	{ .words = { "python3", "-m", "sglang.launch_server", "--model-path", "m1", "--port", "%" },
	  .cpu = "",
	  .engine = DAVY_ENGINE_SGLANG,
	  .routes = { { "GET /health ", "" }, { "GET /v1/models ", ONE_MODEL }, ASKS("m1") } },
	{ .words = { "text-generation-launcher", "--model-id", "m1", "--port", "%" },
	  .cpu = "",
	  .engine = DAVY_ENGINE_TGI,
	  .routes = { { "GET /health ", "" }, { "GET /v1/models ", ONE_MODEL }, ASKS("m1") } },
	{ .words = { "local-ai", "run", "--address", ":%" },
	  .engine = DAVY_ENGINE_LOCALAI,
	  .routes = { { "GET /readyz ", "OK" },
		      { "GET /system ", "{\"backends\":[\"llama-cpp\"],\"loaded_models\":[{"
					"\"id\":\"m1\"}]}" },
		      ASKS("m1") } },
	{ .words = { "llmster", "--port", "%" },
	  .engine = DAVY_ENGINE_LM_STUDIO,
	  .routes = { { "GET /v1/models ", ONE_MODEL },
		      { "GET /api/v0/models ",
			"{\"data\":[{\"id\":\"e\",\"type\":\"embeddings\",\"state\":\"loaded\"},"
			"{\"id\":\"m0\",\"type\":\"llm\",\"state\":\"not-loaded\"},"
			"{\"id\":\"m1\",\"type\":\"llm\",\"state\":\"loaded\"}]}" },
		      ASKS("m1") } },
	{ .words = { "koboldcpp-linux-x64", "--model", "/m.gguf", "--port", "%", "--usevulkan",
		     "0" },
	  .cpu = "--usecpu",
	  .engine = DAVY_ENGINE_KOBOLDCPP,
	  .routes = { { "GET /api/extra/perf ", "{\"idle\":1}" },
		      { "GET /v1/models ", "{\"data\":[{\"id\":\"koboldcpp/m1\"}]}" },
		      ASKS("koboldcpp/m1") } },
	{ .words = { "llama-swap", "-listen", ":%" },
	  .engine = DAVY_ENGINE_LLAMA_SWAP,
	  .routes = { { "GET /health ", "OK" },
		      { "GET /running ", "{\"running\":[{\"model\":\"m1\",\"state\":\"ready\","
					 "\"name\":\"\"}]}" },
		      ASKS("m1") } },
	{ .words = { "lemond", "--port", "%" },
	  .engine = DAVY_ENGINE_LEMONADE,
	  .routes = { { "GET /api/v1/health ",
			"{\"status\":\"ok\",\"all_models_loaded\":[{\"type\":\"audio\","
			"\"model_name\":\"w\"},{\"type\":\"llm\",\"model_name\":\"m1\"}]}" },
		      ASKS("m1") } },
	{ .words = { "python3", "-m", "llama_cpp.server", "--model", "/m.gguf", "--port", "%" },
	  .engine = DAVY_ENGINE_LLAMA_CPP,
	  .routes = { { "GET /v1/models ", ONE_MODEL }, ASKS("m1") } },
	{ .words = { "llamafile", "-m", "/m.gguf", "--port", "%" },
	  .engine = DAVY_ENGINE_LLAMA_CPP,
	  .routes = { { "GET /v1/models ", ONE_MODEL }, ASKS("m1") } },
	{ .words = { "whisper-server", "-m", "/m.bin", "--port", "%" },
	  .cpu = "--no-gpu",
	  .engine = DAVY_ENGINE_WHISPER_CPP,
	  .silent = true,
	  .routes = { { "GET /health ", "{\"status\":\"ok\"}" } } },
	{ .words = { "sd-server", "-m", "/m.gguf", "--listen-port", "%" },
	  .engine = DAVY_ENGINE_SD_CPP,
	  .silent = true,
	  .routes = { { "GET /v1/models ", ONE_MODEL } } },
	{ .words = { "python3", "main.py", "--lowvram", "--port", "%" },
	  .exe = "/srv/ComfyUI/venv/bin/python3",
	  .cpu = "--cpu",
	  .engine = DAVY_ENGINE_COMFYUI,
	  .silent = true,
	  .routes = { { "GET /system_stats ", "{\"system\":{},\"devices\":[]}" } } },
	{ .words = { "rpc-server", "-p", "%" }, .engine = DAVY_ENGINE_LLAMA_CPP, .silent = true },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

/* The stand-in: "status" answers to what it knows. */
static void stand_in_answer(int fd, const struct engine_case *c, int status)
{
	char buf[8192], reply[2048];
	ssize_t n = read(fd, buf, sizeof(buf) - 1); /* requests of the probe come in one piece */
	const char *body = "not found";
	int code = 404;

	buf[n > 0 ? n : 0] = 0;
	for (size_t i = 0; i < ROUTES_MAX && c->routes[i].request; i++)
		if (!strncmp(buf, c->routes[i].request, strlen(c->routes[i].request)) &&
		    (!c->routes[i].asks || strstr(buf, c->routes[i].asks))) {
			code = c->routes[i].status ? c->routes[i].status : status;
			body = c->routes[i].body;
		}
	snprintf(reply, sizeof(reply),
		 "HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", code,
		 strlen(body), body);
	if (n > 0 && write(fd, reply, strlen(reply)) < 0)
		_exit(1);
	shutdown(fd, SHUT_WR);
	close(fd);
}

static uint16_t stand_in_port;

/* On "port"; 0: any. */
static pid_t stand_in_start_on(uint16_t port, const struct engine_case *c, int status)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), conn;
	pid_t pid;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &size), 0);
	assert_int_equal(listen(fd, 16), 0);
	stand_in_port = ntohs(addr.sin_port);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		for (;;) {
			conn = accept(fd, NULL, NULL);
			if (conn < 0)
				_exit(1);
			stand_in_answer(conn, c, status);
		}
	close(fd);
	return pid;
}

static pid_t stand_in_start(const struct engine_case *c, int status)
{
	return stand_in_start_on(0, c, status);
}

static void stand_in_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const char *with_port(const char *word, char *buf, size_t size)
{
	const char *at = word ? strchr(word, '%') : NULL;

	if (!at)
		return word;
	snprintf(buf, size, "%.*s%u", (int)(at - word), word, stand_in_port);
	return buf;
}

/* The command line and the environment of a case, with the stand-in's port. */
struct started {
	char words[WORDS_MAX][64];
	char env[64];
	char *argv[WORDS_MAX + 1];
	char *envp[2];
	const char *exe;
};

static void start_of(const struct engine_case *c, struct started *s)
{
	memset(s, 0, sizeof(*s));
	s->exe = c->exe ? c->exe : "";
	s->envp[0] = (char *)with_port(c->env, s->env, sizeof(s->env));
	for (size_t i = 0; i < WORDS_MAX && c->words[i]; i++)
		s->argv[i] = (char *)with_port(c->words[i], s->words[i], sizeof(s->words[i]));
}

static void identify(const struct started *s, char *const argv[], enum davy_engine engine,
		     struct davy_engine_facts *facts)
{
	const struct davy_engine_look look = {
		.argv = argv, .envp = s->envp, .exe = s->exe, .parent = ""
	};

	davy_engine_identify(&look, facts);
	assert_int_equal(facts->engine, engine);
	assert_int_equal(facts->port, stand_in_port);
}

struct checked {
	sd_event *loop;
	struct davy_check_result result;
};

static void on_checked(void *arg, const struct davy_check_result *result)
{
	struct checked *c = arg;

	c->result = *result;
	sd_event_exit(c->loop, 0);
}

static struct davy_check_result check_facts(const struct davy_engine_facts *facts)
{
	struct checked checked = { 0 };
	struct davy_check_request request = {
		.timeout_ms = 5000, .alive_ms = 300, .done = on_checked, .arg = &checked
	};
	char program[PATH_MAX];

	request.port = facts->port;
	request.api = davy_engine_api(facts->engine, facts->role);
	assert_int_equal(davy_program_path("../davylamp-probe", program, sizeof(program)), 0);
	assert_true(sd_event_new(&checked.loop) >= 0);
	assert_int_equal(davy_check_start(checked.loop, program, &request), 0);
	assert_int_equal(sd_event_loop(checked.loop), 0);
	sd_event_unref(checked.loop);
	if (checked.result.error)
		print_error("%s: %s\n", davy_engine_name(facts->engine), checked.result.why);
	assert_int_equal(checked.result.error, 0);
	return checked.result;
}

static struct davy_check_result check(const struct engine_case *c)
{
	struct davy_engine_facts facts;
	struct started s;

	start_of(c, &s);
	identify(&s, s.argv, c->engine, &facts);
	return check_facts(&facts);
}

static void every_engine_that_works_is_verified(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		pid_t pid = stand_in_start(&cases[i], 200);
		struct davy_check_result r = check(&cases[i]);

		stand_in_end(pid);
		if (!davy_check_serving(&r))
			print_error("%s (%zu): health %u, completion %u, tokens %u\n",
				    cases[i].words[0], i, r.health_status, r.completion_status,
				    r.token_count);
		assert_true(davy_check_serving(&r));
		assert_int_equal(r.completion_status, cases[i].silent ? DAVY_PROBE_ALIVE : 200);
		assert_int_equal(r.token_count, !cases[i].silent);
	}
}

static void an_engine_that_is_not_ready_is_not_verified(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		struct davy_check_result r;
		pid_t pid;

		if (!cases[i].silent || !cases[i].routes[0].request)
			continue;
		pid = stand_in_start(&cases[i], 503);
		r = check(&cases[i]);
		stand_in_end(pid);
		assert_false(davy_check_serving(&r));
		assert_int_equal(r.health_status, 503);
	}
}

static void an_engine_whose_port_is_closed_is_not_verified(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		struct davy_check_result r;

		stand_in_end(stand_in_start(&cases[i], 200));
		r = check(&cases[i]);
		assert_false(davy_check_serving(&r));
	}
}

/* The same command again: its port is closed between, and the same check verifies it. */
static void every_engine_is_verified_after_a_restart(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		pid_t pid = stand_in_start(&cases[i], 200);
		struct davy_check_result r;
		uint16_t port = stand_in_port;

		stand_in_end(pid);
		r = check(&cases[i]);
		assert_false(davy_check_serving(&r));
		pid = stand_in_start_on(port, &cases[i], 200);
		r = check(&cases[i]);
		stand_in_end(pid);
		assert_true(davy_check_serving(&r));
	}
}

static bool hides_gpus(const struct davy_environment *e)
{
	size_t hidden = 0;

	for (size_t i = 0; i < e->count; i++)
		hidden += !strcmp(e->at[i].value, "-1") || !strcmp(e->at[i].value, "!*:gpu");
	return hidden >= 4;
}

/* By variables, or not at all: then the reason is said. */
static void moves_without_arguments(const struct engine_case *c,
				    const struct davy_engine_facts *facts)
{
	const struct davy_engine_target target = { .backend = DAVY_BACKEND_CPU,
						   .index = { -1, -1, -1, -1, -1, -1 } };
	struct davy_environment e;
	int err = davy_engine_tell(facts, &target, &e);

	/* a runner moves with the daemon that configures it */
	assert_int_equal(davy_engine_movable(facts->engine),
			 !c->cpu && davy_engine_configured_by(facts->engine) == DAVY_ENGINE_NONE);
	if (c->cpu) {
		assert_int_equal(err, -EOPNOTSUPP);
		assert_non_null(strstr(e.why, "has no option for cpu"));
		return;
	}
	assert_int_equal(err, 0);
	assert_true(hides_gpus(&e));
}

/*
 * On the CPU it is still the same engine with the same model, on the same port with the same API,
 * and a second move changes nothing.
 */
static void moves_by_arguments(const struct engine_case *c, const struct started *s,
			       const struct davy_engine_facts *facts)
{
	const struct davy_engine_override override = { .backend = DAVY_BACKEND_CPU };
	struct davy_engine_facts moved;
	struct davy_check_result r;
	struct davy_args args, again;
	size_t found = 0;

	assert_true(davy_engine_movable(facts->engine));
	assert_int_equal(davy_engine_command(facts, s->argv, &override, &args), 0);
	identify(s, args.at, c->engine, &moved);
	assert_int_equal(moved.role, facts->role);
	assert_int_equal(moved.backend, DAVY_BACKEND_CPU);
	assert_string_equal(moved.model, facts->model);
	for (size_t i = 0; i < args.count; i++)
		found += !strcmp(args.at[i], c->cpu);
	assert_true(found > 0);
	assert_int_equal(davy_engine_command(&moved, args.at, &override, &again), 0);
	assert_int_equal(again.count, args.count);
	r = check_facts(&moved);
	assert_true(davy_check_serving(&r));
	davy_args_done(&args);
	davy_args_done(&again);
}

static void every_engine_moves_to_the_cpu_or_says_why_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		pid_t pid = stand_in_start(&cases[i], 200);
		struct davy_engine_facts facts;
		struct started s;

		start_of(&cases[i], &s);
		identify(&s, s.argv, cases[i].engine, &facts);
		if (cases[i].cpu && cases[i].cpu[0])
			moves_by_arguments(&cases[i], &s, &facts);
		else
			moves_without_arguments(&cases[i], &facts);
		stand_in_end(pid);
	}
}

/* Their parsers accept only one of these options, and a settings file overrides all of them. */
static void options_that_exclude_the_cpu_are_removed(void **state)
{
	static const struct {
		enum davy_engine engine;
		char *argv[12];
		const char *moved; /* NULL: unsupported */
	} lines[] = {
		{ DAVY_ENGINE_KOBOLDCPP,
		  { "koboldcpp", "--usecublas", "normal", "0", "mmq", "--gpulayers", "99",
		    "m.gguf" },
		  "koboldcpp m.gguf --usecpu" },
		{ DAVY_ENGINE_KOBOLDCPP,
		  { "koboldcpp", "--usevulkan", "0", "1", "--tensor_split", "7", "3", "--port",
		    "1" },
		  "koboldcpp --port 1 --usecpu" },
		{ DAVY_ENGINE_KOBOLDCPP,
		  { "koboldcpp", "m.gguf", "--usevulkan" },
		  "koboldcpp m.gguf --usecpu" },
		{ DAVY_ENGINE_KOBOLDCPP, { "koboldcpp", "--config", "a.json" }, NULL },
		{ DAVY_ENGINE_KOBOLDCPP, { "koboldcpp", "a.kcpps" }, NULL },
		{ DAVY_ENGINE_COMFYUI,
		  { "comfyui", "--highvram", "--port", "1" },
		  "comfyui --port 1 --cpu" },
		{ DAVY_ENGINE_WHISPER_CPP,
		  { "whisper-server", "-dev", "1", "-m", "a" },
		  "whisper-server -m a --no-gpu" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct davy_engine_override override = { .backend = DAVY_BACKEND_CPU };
		const struct davy_engine_facts facts = { .engine = lines[i].engine };
		char text[256] = "";
		struct davy_args args;
		int err = davy_engine_command(&facts, lines[i].argv, &override, &args);

		assert_int_equal(err, lines[i].moved ? 0 : -EOPNOTSUPP);
		for (size_t j = 0; j < args.count; j++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 j ? " " : "", args.at[j]);
		assert_string_equal(text, lines[i].moved ? lines[i].moved : "");
		davy_args_done(&args);
	}
}

/* A new row without a case fails here. */
static void every_engine_of_the_table_is_walked(void **state)
{
	(void)state;
	for (int engine = DAVY_ENGINE_NONE + 1; engine < DAVY_ENGINE_COUNT; engine++) {
		size_t found = 0;

		for (size_t i = 0; i < CASES; i++)
			found += cases[i].engine == (enum davy_engine)engine;
		if (!found && engine != DAVY_ENGINE_GENERIC) /* it has no command line */
			fail_msg("no case for '%s'", davy_engine_name(engine));
	}
}

/* A model is loaded and its completion fails: a llama-server after a device loss. */
static void a_completion_that_fails_is_told(void **state)
{
	struct engine_case c = cases[0];
	struct davy_check_result r;
	pid_t pid;

	(void)state;
	c.routes[1].request = NULL;
	pid = stand_in_start(&c, 200);
	r = check(&c);
	stand_in_end(pid);
	assert_int_equal(r.health_status, 200);
	assert_int_equal(r.completion_status, 404);
	assert_false(davy_check_serving(&r));
}

/*
 * Answers of llama-server 0.7.0 (recorded with a stand-in of its library, tests/e2e/graphs), of
 * those that pass them on, and of llama-cpp-python. The others are errors without a graph.
 */
static void the_text_of_an_error_tells_a_failed_graph(void **state)
{
	static const struct {
		int status;
		const char *body;
		bool failed;
	} answers[] = {
		{ 500,
		  "{\"error\":{\"code\":500,\"message\":\"Compute error.\","
		  "\"type\":\"server_error\"}}",
		  true },
		{ 500,
		  "{\"error\":\"Engine protocol predict stream returned an error: "
		  "{\\\"code\\\":500,"
		  "\\\"message\\\":\\\"Compute error.\\\"}\"}",
		  true },
		{ 500, "{\"error\":{\"message\":\"llama_decode returned -3\",\"code\":null}}",
		  true },
		{ 500, "{\"error\":{\"message\":\"llama_decode returned -2\",\"code\":null}}",
		  false },
		{ 500, "{\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\"}}",
		  false },
		{ 400, "{\"error\":{\"code\":400,\"message\":\"Compute error.\"}}", false },
		{ 500, "{\"message\":\"Compute error.\"}", false },
		{ 500, "{\"error\":[\"Compute error.\"]}", false },
		{ 500, "Compute error.", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct engine_case c = cases[0];
		struct davy_check_result r;
		pid_t pid;

		c.routes[1].status = answers[i].status;
		c.routes[1].body = answers[i].body;
		pid = stand_in_start(&c, 200);
		r = check(&c);
		stand_in_end(pid);
		assert_int_equal(r.completion_status, answers[i].status);
		assert_int_equal(r.compute_failed, answers[i].failed);
		assert_false(davy_check_serving(&r));
	}
}

/* An engine is asked nothing until its row says what: a new row is safe. */
static void an_engine_without_an_api_is_asked_for_no_token(void **state)
{
	(void)state;
	assert_string_equal(davy_engine_api(DAVY_ENGINE_GENERIC, DAVY_ROLE_SERVER)->name, "none");
	assert_string_equal(davy_engine_api(DAVY_ENGINE_NONE, DAVY_ROLE_UNKNOWN)->name, "none");
	assert_string_equal(davy_engine_api(DAVY_ENGINE_VLLM, DAVY_ROLE_RUNNER)->name, "none");
	assert_string_equal(davy_engine_api(DAVY_ENGINE_OLLAMA, DAVY_ROLE_UNKNOWN)->name, "ollama");
	assert_string_equal(davy_engine_api(DAVY_ENGINE_OLLAMA_RUNNER, DAVY_ROLE_RUNNER)->name,
			    "llama");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_that_works_is_verified),
		cmocka_unit_test(an_engine_that_is_not_ready_is_not_verified),
		cmocka_unit_test(an_engine_whose_port_is_closed_is_not_verified),
		cmocka_unit_test(every_engine_is_verified_after_a_restart),
		cmocka_unit_test(every_engine_moves_to_the_cpu_or_says_why_not),
		cmocka_unit_test(options_that_exclude_the_cpu_are_removed),
		cmocka_unit_test(every_engine_of_the_table_is_walked),
		cmocka_unit_test(a_completion_that_fails_is_told),
		cmocka_unit_test(the_text_of_an_error_tells_a_failed_graph),
		cmocka_unit_test(an_engine_without_an_api_is_asked_for_no_token),
	};

	return cmocka_run_group_tests_name("engine_check", tests, NULL, NULL);
}
