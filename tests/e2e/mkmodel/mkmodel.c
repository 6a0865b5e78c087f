// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkmodel - writes a small language model with random weights, for tests of inference engines.
 *
 * The file is GGUF v3 with the llama architecture and an SPM tokenizer with byte fallback. The
 * weights depend on the seed, the size and nothing else. The output rows of control and byte
 * tokens are zero: greedy text is printable and never ends.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mkmodel.h"

/* Layers of a given width are added until the file has about the wanted size. */
static int shape_for_bytes(uint64_t bytes, struct shape *ret_shape)
{
	struct shape s = { .embd = 256, .ff = 1024, .heads = 8, .type = GGML_F16 };
	uint64_t layer_bytes, fixed_bytes;

	if (bytes >= 40000000)
		s = (struct shape){ .embd = 1024, .ff = 4096, .heads = 16, .type = GGML_F16 };
	if (bytes >= 1000000000)
		s = (struct shape){ .embd = 2048, .ff = 8192, .heads = 32, .type = GGML_F16 };
	layer_bytes = 2 * (4 * (uint64_t)s.embd * s.embd + 3 * (uint64_t)s.embd * s.ff);
	fixed_bytes = 4 * (uint64_t)s.embd * TOKEN_COUNT;
	if (bytes < fixed_bytes + layer_bytes || bytes > 12000000000)
		return -ERANGE;
	s.layers = (uint32_t)((bytes - fixed_bytes + layer_bytes / 2) / layer_bytes);
	*ret_shape = s;
	return 0;
}

static int shape_parse(const char *size, struct shape *ret_shape)
{
	unsigned long long mega;
	char *end;

	if (strcmp(size, "tiny") == 0) {
		*ret_shape = (struct shape){ 64, 176, 4, 2, GGML_F32 };
		return 0;
	}
	if (strcmp(size, "small") == 0)
		return shape_for_bytes(22000000, ret_shape);
	errno = 0;
	mega = strtoull(size, &end, 10);
	if (errno || end == size || size[0] == '-' || strcmp(end, "M") != 0 || mega > 12000)
		return -EINVAL;
	return shape_for_bytes(mega * 1000000, ret_shape);
}

/* The file appears whole or not at all. */
static int write_file(struct model *m, const char *path)
{
	char temp[4096];
	int len = snprintf(temp, sizeof(temp), "%s.tmp", path), err = 0;

	if (len < 0 || (size_t)len >= sizeof(temp))
		return -ENAMETOOLONG;
	m->out = fopen(temp, "wb");
	if (!m->out)
		return -errno;
	errno = 0;
	model_write(m);
	if (ferror(m->out))
		err = errno ? -errno : -EIO;
	if (fclose(m->out) != 0 && !err)
		err = -errno;
	if (!err && rename(temp, path) != 0)
		err = -errno;
	if (err)
		unlink(temp);
	return err;
}

static const char usage[] =
	"usage: mkmodel -o FILE [--size tiny|small|NM] [--seed N] [--name NAME]\n"
	"\n"
	"Writes a language model with random weights (GGUF v3, llama) to FILE.\n"
	"  -o, --output FILE  where to\n"
	"  --size SIZE        tiny (0.9 MB, default), small (22 MB), or N megabytes, 4M to 12000M\n"
	"  --seed N           the same seed and size give the same file (default 1)\n"
	"  --name NAME        general.name in the file (default: the size)\n";

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' }, { "size", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'r' },   { "name", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },	    { NULL, 0, NULL, 0 },
};

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "mkmodel: %s '%s'; see mkmodel --help\n", what, value);
	return 2;
}

int main(int argc, char **argv)
{
	static struct model m = { .seed = 1 };
	const char *path = NULL, *size = "tiny";
	char *end;
	int c, err;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'h')
			return fputs(usage, stdout) == EOF;
		if (c == 'o')
			path = optarg;
		else if (c == 's')
			size = optarg;
		else if (c == 'n')
			m.name = optarg;
		else if (c != 'r')
			return 2;
		else if (m.seed = strtoull(optarg, &end, 10), end == optarg || *end)
			return usage_error("not a number:", optarg);
	}
	if (!path || optind != argc)
		return usage_error(path ? "too many arguments:" : "no output file:",
				   path ? argv[optind] : "-o");
	if (shape_parse(size, &m.shape) != 0)
		return usage_error("not a possible size:", size);
	if (!m.name)
		m.name = size;
	err = write_file(&m, path);
	if (err)
		fprintf(stderr, "mkmodel: cannot write '%s': %s\n", path, strerror(-err));
	return err != 0;
}
