// SPDX-License-Identifier: GPL-2.0
/*
 * fire: makes the kernel's GPU drivers fire the events of a test, through the injector
 * module. Exit status: 0 done, 1 failed, 2 usage, 4 this kernel has no such hook.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fire.h"

#define STATUS_ABSENT 4

static void usage(FILE *to)
{
	fputs("usage: fire VERB [ARGUMENT]... [OPTION]...\n"
	      "any hook, with arguments laid out by the kernel's BTF:\n"
	      "  tp NAME [ARG]...    every probe of a tracepoint\n"
	      "  func NAME [ARG]...  a function with its body skipped; it returns --ret\n"
	      "  call NAME [ARG]...  a function as it is\n"
	      "  storm NAME [ARG]... a tracepoint, or else a function as with 'func', from\n"
	      "                      each of --cpus at once\n"
	      "  has tp|func NAME... says which exist; status 4 when one does not\n"
	      "  options: --count N --irq --comm NAME --module MOD (whose types and hooks\n"
	      "    come first) --ret N --cpus N,N... --cast ARG=TYPE\n"
	      "  '+ VERB NAME [ARG]...' or '+ sleep MS' may follow: more hooks, with the same\n"
	      "  objects; also 'skip SYMBOL VALUE [ARG]...', which may come first and lasts,\n"
	      "  and 'wait FILE', which creates FILE.waits and ends when there is a FILE.\n"
	      "  '%ret=N', '%count=N', '%irq=1' before the ARGs are for one hook.\n"
	      "  NAME may be alternatives, 'a|b'. ARG is '[?]PATH[|PATH]...=VALUE': the first\n"
	      "  PATH that this kernel has; with '?' it may have none. PATH begins with an\n"
	      "  argument's name or number, or '@OBJECT:TYPE' (later '@OBJECT'), and goes on\n"
	      "  by .MEMBER, [INDEX] and, behind a pointer, :TYPE. A pointer on the way leads\n"
	      "  to a zeroed object of its own, '@OBJECT:TYPE' alone makes one. VALUE: a\n"
	      "  number, text (for char * and char []), &PATH, sym:NAME, drv:PCI[+-OFFSET],\n"
	      "  drv:PCI-TYPE.MEMBER (what has the driver data as that member), NULL\n"
	      "events with verbs of their own:\n"
	      "  iv                  an interrupt entry (amdgpu_iv)\n"
	      "  bo-move             a buffer changes its place (amdgpu_bo_move)\n"
	      "  pasid alloc|free    an address space number (amdgpu_pasid_*)\n"
	      "  job queue|run|done  a scheduler job, under the kernel's own names\n"
	      "  fault               a page fault, through the bound driver's own code\n"
	      "  options: --dev-name PCI --pasid N --vmid N --client N --src N --ring-id N\n"
	      "    --addr A --flags N --timestamp N --ih N --bytes N --from N --to N --pid N\n"
	      "    --comm NAME --ring NAME --id N --seqno N --context N --count N --irq\n"
	      "else:\n"
	      "  engine PCI|off      run the rings of a bound device, or let jobs hang\n"
	      "  impatient PCI       let the driver poll a register for 100 us at most\n"
	      "  skip SYMBOL RETURN  let a kernel function return at once\n"
	      "  unskip SYMBOL       undo that\n"
	      "  ioctl FILE COMMAND  an ioctl of this process, with zeroes; prints its error\n"
	      "  btf FILE            give the stand-in of NVIDIA's module its types\n"
	      "  send COMMAND        one raw command of the injector; prints its result\n"
	      "--comm is also the firing task's own name.\n",
	      to);
}

/* Every option but --irq and --cast; "number" or "text" receives its value. */
struct option_row {
	const char *name;
	uint64_t *number;
	const char **text;
};

static int parse_number(const char *name, const char *text, uint64_t *ret_value)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (errno || *end || end == text) {
		fprintf(stderr, "fire: '--%s' wants a number, not '%s'\n", name, text);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static int take_option(struct fire_options *o, const struct option_row *row)
{
	if (row->text) {
		*row->text = optarg;
		return 0;
	}
	if (row->number)
		return parse_number(row->name, optarg, row->number);
	if (!strcmp(row->name, "irq"))
		o->in_irq = true;
	else if (o->cast_count < FIRE_ARGS_MAX)
		o->casts[o->cast_count++] = optarg;
	return 0;
}

static int parse_options(int argc, char **argv, struct fire_options *o)
{
	const struct option_row rows[] = {
		{ "dev-name", NULL, &o->dev_name },
		{ "ring", NULL, &o->ring },
		{ "comm", NULL, &o->comm },
		{ "module", NULL, &o->module },
		{ "cpus", NULL, &o->cpus },
		{ "pasid", &o->pasid, NULL },
		{ "vmid", &o->vmid, NULL },
		{ "client", &o->client, NULL },
		{ "src", &o->src, NULL },
		{ "ring-id", &o->ring_id, NULL },
		{ "addr", &o->addr, NULL },
		{ "flags", &o->flags, NULL },
		{ "timestamp", &o->timestamp, NULL },
		{ "ih", &o->ih, NULL },
		{ "bytes", &o->bytes, NULL },
		{ "from", &o->from, NULL },
		{ "to", &o->to, NULL },
		{ "pid", &o->pid, NULL },
		{ "id", &o->id, NULL },
		{ "seqno", &o->seqno, NULL },
		{ "context", &o->context, NULL },
		{ "count", &o->count, NULL },
		{ "ret", &o->ret, NULL },
		{ "cast", NULL, NULL },
		{ "irq", NULL, NULL },
	};
	enum {
		ROWS = sizeof(rows) / sizeof(rows[0])
	};
	struct option longs[ROWS + 1] = { 0 };
	int index;

	for (int i = 0; i < ROWS; i++)
		longs[i] = (struct option){ rows[i].name,
					    strcmp(rows[i].name, "irq") ? required_argument
									: no_argument,
					    NULL, i };
	while ((index = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (index == '?' || take_option(o, &rows[index]))
			return -EINVAL;
	return 0;
}

/* An application's ioctl. */
static void run_ioctl(struct fire_session *s, const char *path, const char *command)
{
	uint64_t zeroes[64] = { 0 };
	int fd = open(path, O_RDWR | O_CLOEXEC), ret;

	if (fd < 0) {
		fire_fail(s, -errno, "cannot open '%s': %s", path, strerror(errno));
		return;
	}
	ret = ioctl(fd, strtoul(command, NULL, 0), zeroes);
	printf("ioctl=%s result=%d errno=%d by=%d\n", path, ret, ret ? errno : 0, getpid());
	close(fd);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return word && (!strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c));
}

/*
 * Verbs without options; a negative number among their arguments is not an option. Returns false
 * for other verbs.
 */
static bool run_plain(struct fire_session *s, const char *verb, char **args, int count,
		      int *ret_status)
{
	*ret_status = 0;
	if (!strcmp(verb, "skip") && count == 2)
		fire_send(s, "skip %s %s", args[0], args[1]);
	else if (!strcmp(verb, "unskip") && count == 1)
		fire_send(s, "unskip %s", args[0]);
	else if (!strcmp(verb, "engine") && count == 1 && !strcmp(args[0], "off"))
		fire_send(s, "engine off");
	else if (!strcmp(verb, "has") && count >= 2 && count % 2 == 0)
		*ret_status = fire_hooks_say(s, args, count) ? STATUS_ABSENT : 0;
	else if (!strcmp(verb, "ioctl") && count == 2)
		run_ioctl(s, args[0], args[1]);
	else if (!strcmp(verb, "btf") && count == 1)
		fire_btf_write(s, args[0]);
	else if (!strcmp(verb, "send") && count == 1)
		fire_send(s, "%s", args[0]);
	else
		return false;
	if (!strcmp(verb, "send") && !s->err)
		printf("result=0x%" PRIx64 "\n", fire_result(s));
	return true;
}

/* "%SETTING=VALUE" among a hook's arguments applies to that hook only. Returns their number. */
static int take_settings(struct fire_session *s, struct fire_hook *h, char **args, int count)
{
	int taken = 0;

	for (; taken < count && *args[taken] == '%'; taken++) {
		const char *value = strchr(args[taken], '=');
		size_t len = value ? (size_t)(value - args[taken]) : 0;

		if (len == 4 && !memcmp(args[taken], "%ret", len))
			h->ret = strtoll(value + 1, NULL, 0);
		else if (len == 6 && !memcmp(args[taken], "%count", len))
			h->count = strtoull(value + 1, NULL, 0);
		else if (len == 4 && !memcmp(args[taken], "%irq", len))
			h->in_irq = value[1] == '1';
		else
			fire_fail(s, -EINVAL, "'%s' is no setting of a hook", args[taken]);
	}
	return taken;
}

/* Returns 0 when the kernel has no such hook. */
static int run_hook(struct fire_session *s, const char *verb, char **args, int count,
		    const struct fire_options *o)
{
	bool storm = !strcmp(verb, "storm");
	struct fire_hook h = {
		.kind = storm || !strcmp(verb, "tp") ? FIRE_TRACEPOINT
			: !strcmp(verb, "call")	     ? FIRE_CALL
						     : FIRE_FUNCTION,
		.name = args[0],
		.module = o->module,
		.cpus = o->cpus,
		.ret = (int64_t)o->ret,
		.count = o->count,
		.in_irq = o->in_irq,
	};
	int found = fire_hook_find(s, &h), settings;

	if (!found && storm) {
		h.kind = FIRE_FUNCTION;
		found = fire_hook_find(s, &h);
	}
	if (!found)
		fprintf(stderr, "fire: no '%s' on this kernel\n", args[0]);
	if (found <= 0)
		return found;
	for (int i = 0; i < o->cast_count; i++)
		fire_cast(s, o->casts[i]);
	settings = take_settings(s, &h, args + 1, count - 1);
	fire_hook_run(s, &h, args + 1 + settings, count - 1 - settings);
	return 1;
}

static bool is_hook_verb(const char *verb)
{
	return is_one_of(verb, "tp", "func", "call") || !strcmp(verb, "storm");
}

/* "SYMBOL VALUE [ARG]..." */
static void run_skip(struct fire_session *s, char **words, int count, const struct fire_options *o)
{
	char value[FIRE_VALUE_LEN] = "";

	if (fire_btf_open(s, o->module))
		return;
	for (int i = 2; i < count; i++)
		fire_assign(s, words[i]);
	fire_value(s, words[1], value);
	fire_send(s, "skip %s %s", words[0], value);
}

static void run_wait(struct fire_session *s, const char *file)
{
	char waits[256];
	int fd;

	snprintf(waits, sizeof(waits), "%s.waits", file);
	fd = open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		fire_fail(s, -errno, "cannot create '%s': %s", waits, strerror(errno));
		return;
	}
	close(fd);
	while (access(file, F_OK))
		usleep(10000);
}

/* Steps separated by "+": hooks that share named objects, skips, and pauses. */
static int run_steps(struct fire_session *s, char **words, int count, const struct fire_options *o)
{
	while (count > 0 && !s->err) {
		int len = 0;

		while (len < count && strcmp(words[len], "+"))
			len++;
		if (len == 2 && !strcmp(words[0], "sleep")) {
			usleep((useconds_t)strtoul(words[1], NULL, 0) * 1000);
		} else if (len == 2 && !strcmp(words[0], "wait")) {
			run_wait(s, words[1]);
		} else if (len < count && !o->module) {
			fire_fail(s, -EINVAL, "several hooks need --module, whose types all share");
		} else if (len >= 3 && !strcmp(words[0], "skip")) {
			run_skip(s, words + 1, len - 1, o);
		} else if (len >= 2 && is_hook_verb(words[0])) {
			if (!run_hook(s, words[0], words + 1, len - 1, o))
				return STATUS_ABSENT;
		} else {
			fire_fail(s, -EINVAL, "a step is a hook, 'sleep MS' or 'wait FILE'");
		}
		words += len + 1;
		count -= len + 1;
	}
	return s->err ? 1 : 0;
}

/* Verbs for one kind of event each. Returns false for other verbs. */
static bool run_event(struct fire_session *s, const char *verb, const char *arg,
		      const struct fire_options *o)
{
	bool pasid = !strcmp(verb, "pasid") && is_one_of(arg, "alloc", "free", "free");
	bool job = !strcmp(verb, "job") && is_one_of(arg, "queue", "run", "done");

	if (!strcmp(verb, "iv"))
		fire_iv(s, o);
	else if (!strcmp(verb, "bo-move"))
		fire_bo_move(s, o);
	else if (pasid)
		fire_pasid(s, o, !strcmp(arg, "free"));
	else if (job)
		fire_job(s, o, arg);
	else if (!strcmp(verb, "fault") && !fire_btf_open(s, "amdgpu"))
		fire_fault(s, o);
	else if (!strcmp(verb, "engine") && arg && !fire_btf_open(s, "amdgpu"))
		fire_engine(s, arg);
	else if (!strcmp(verb, "impatient") && arg && !fire_btf_open(s, "amdgpu"))
		fire_impatient(s, arg);
	else
		return s->err;
	return true;
}

static const struct fire_options defaults = {
	.dev_name = "0000:00:02.0",
	.ring = "gfx_0.0.0",
	.comm = "llama-server",
	.pid = 1,
	.pasid = 32769,
	.vmid = 1,
	.client = 0x1b,
	.src = 146,
	.count = 1,
	.bytes = 1 << 20,
	.from = 2,
	.to = 1,
	.id = 1,
	.seqno = 1,
	.context = 1,
};

/* Returns the exit status. */
static int run(struct fire_session *s, int argc, char **argv)
{
	struct fire_options o = defaults;
	const char *verb = argv[1];
	int count, status;
	char **args;

	if (run_plain(s, verb, argv + 2, argc - 2, &status))
		return s->err ? 1 : status;
	/* The verb replaces the program's name. */
	if (parse_options(argc - 1, argv + 1, &o)) {
		usage(stderr);
		return 2;
	}
	args = argv + 1 + optind;
	count = argc - 1 - optind;
	prctl(PR_SET_NAME, o.comm);
	if (count && (is_hook_verb(verb) || !strcmp(verb, "skip"))) {
		args[-1] = (char *)verb; /* options may have moved in between */
		return run_steps(s, args - 1, count + 1, &o);
	}
	if (!run_event(s, verb, count ? args[0] : NULL, &o)) {
		usage(stderr);
		return 2;
	}
	return s->err ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct fire_session s = { .fd = -1 };
	int status;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		usage(argc < 2 ? stderr : stdout);
		return argc < 2 ? 2 : 0;
	}
	status = fire_open(&s) ? 1 : run(&s, argc, argv);
	fire_btf_close(&s);
	fire_close(&s);
	return status;
}
