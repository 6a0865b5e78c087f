// SPDX-License-Identifier: GPL-2.0
/*
 * fire: makes the kernel's GPU drivers say what a test wants to hear, through the injector
 * module. Exit status: 0 done, 1 failed, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "fire.h"

static void usage(FILE *to)
{
	fputs("usage: fire VERB [ARGUMENT] [OPTION]...\n"
	      "  iv                  an interrupt entry (amdgpu_iv)\n"
	      "  bo-move             a buffer changes its place (amdgpu_bo_move)\n"
	      "  pasid alloc|free    an address space number (amdgpu_pasid_*)\n"
	      "  job queue|run|done  a scheduler job, under the kernel's own names\n"
	      "  fault               a page fault, through the bound driver's own code\n"
	      "  engine PCI|off      run the rings of a bound device, or let jobs hang\n"
	      "  skip SYMBOL RETURN  let a kernel function return at once\n"
	      "  unskip SYMBOL       undo that\n"
	      "  send COMMAND        one raw command of the injector; prints its result\n"
	      "options: --dev-name PCI --pasid N --vmid N --client N --src N --ring-id N\n"
	      "  --addr A --timestamp N --ih N --bytes N --from N --to N --pid N --comm NAME\n"
	      "  --ring NAME --id N --seqno N --context N --count N --irq\n"
	      "--comm is also the firing task's own name.\n",
	      to);
}

/* Every option but --irq; "number" or "text" is where its value goes. */
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
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text) {
		fprintf(stderr, "fire: '--%s' wants a number, not '%s'\n", name, text);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static int parse_options(int argc, char **argv, struct fire_options *o)
{
	const struct option_row rows[] = {
		{ "dev-name", NULL, &o->dev_name },
		{ "ring", NULL, &o->ring },
		{ "comm", NULL, &o->comm },
		{ "pasid", &o->pasid, NULL },
		{ "vmid", &o->vmid, NULL },
		{ "client", &o->client, NULL },
		{ "src", &o->src, NULL },
		{ "ring-id", &o->ring_id, NULL },
		{ "addr", &o->addr, NULL },
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
	};
	enum {
		ROWS = sizeof(rows) / sizeof(rows[0])
	};
	struct option longs[ROWS + 2] = { 0 };
	int index;

	for (int i = 0; i < ROWS; i++)
		longs[i] = (struct option){ rows[i].name, required_argument, NULL, i };
	longs[ROWS] = (struct option){ "irq", no_argument, NULL, ROWS };
	while ((index = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (index == '?')
			return -EINVAL;
		if (index == ROWS)
			o->in_irq = true;
		else if (rows[index].text)
			*rows[index].text = optarg;
		else if (parse_number(rows[index].name, optarg, rows[index].number))
			return -EINVAL;
	}
	return 0;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return word && (!strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c));
}

/*
 * Verbs without options, which need no BTF either; a negative number among their words is no
 * option. Returns false for any other.
 */
static bool run_plain(struct fire_session *s, const char *verb, char **args, int count)
{
	if (!strcmp(verb, "skip") && count == 2)
		fire_send(s, "skip %s %s", args[0], args[1]);
	else if (!strcmp(verb, "unskip") && count == 1)
		fire_send(s, "unskip %s", args[0]);
	else if (!strcmp(verb, "engine") && count == 1 && !strcmp(args[0], "off"))
		fire_send(s, "engine off");
	else if (!strcmp(verb, "send") && count == 1)
		fire_send(s, "%s", args[0]);
	else
		return false;
	if (!strcmp(verb, "send") && !s->err)
		printf("result=0x%" PRIx64 "\n", fire_result(s));
	return true;
}

/* Verbs that lay out structures. Returns false for any other. */
static bool run_event(struct fire_session *s, const char *verb, const char *arg,
		      const struct fire_options *o)
{
	bool iv = !strcmp(verb, "iv"), move = !strcmp(verb, "bo-move");
	bool pasid = !strcmp(verb, "pasid") && is_one_of(arg, "alloc", "free", "free");
	bool job = !strcmp(verb, "job") && is_one_of(arg, "queue", "run", "done");
	bool fault = !strcmp(verb, "fault"), engine = !strcmp(verb, "engine") && arg;

	if (!iv && !move && !pasid && !job && !fault && !engine)
		return false;
	s->err = fire_btf_open(s);
	if (s->err)
		return true;
	if (iv)
		fire_iv(s, o);
	else if (move)
		fire_bo_move(s, o);
	else if (pasid)
		fire_pasid(s, o, !strcmp(arg, "free"));
	else if (job)
		fire_job(s, o, arg);
	else if (fault)
		fire_fault(s, o);
	else
		fire_engine(s, arg);
	return true;
}

/* Returns the exit status. */
static int run(struct fire_session *s, int argc, char **argv)
{
	struct fire_options o = {
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
	const char *verb = argv[1];

	if (run_plain(s, verb, argv + 2, argc - 2))
		return s->err ? 1 : 0;
	/* The verb takes the place of the program's name. */
	if (parse_options(argc - 1, argv + 1, &o)) {
		usage(stderr);
		return 2;
	}
	prctl(PR_SET_NAME, o.comm);
	if (!run_event(s, verb, argc - 1 > optind ? argv[1 + optind] : NULL, &o)) {
		usage(stderr);
		return 2;
	}
	return s->err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct fire_session s = { .fd = -1 };
	int status;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		usage(argc < 2 ? stderr : stdout);
		return argc < 2 ? 2 : 0;
	}
	s.err = fire_open(&s);
	status = s.err ? 1 : run(&s, argc, argv);
	fire_btf_close(&s);
	fire_close(&s);
	return status;
}
