/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a model file; the claimed size may differ from the real one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct davy_gguf g;

	if (fd < 0)
		fd = memfd_create("gguf", 0);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!davy_gguf_read(fd, size, &g) &&
	    (!memchr(g.architecture, 0, sizeof(g.architecture)) ||
	     !memchr(g.name, 0, sizeof(g.name)) || !memchr(g.size_label, 0, sizeof(g.size_label)) ||
	     !davy_gguf_quantisation(g.file_type) ||
	     davy_gguf_cache_bytes(&g, 1 << 20, "f16", "q8_0") <
		     davy_gguf_cache_bytes(&g, 1 << 10, "q4_0", "q4_0")))
		abort();
	davy_gguf_read(fd, size ? UINT64_MAX - data[size - 1] : UINT64_MAX, &g);
	return 0;
}
