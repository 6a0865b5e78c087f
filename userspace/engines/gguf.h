/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the header of a GGUF file (versions 2 and 3, little endian): the kind of model. The file is
 * untrusted and may contain wrong lengths: all are checked against the file's size and fixed
 * limits, and at most DAVY_GGUF_READ_MAX bytes are read.
 */
#ifndef DAVY_GGUF_H
#define DAVY_GGUF_H

#include <stdbool.h>
#include <stdint.h>

#define DAVY_GGUF_READ_MAX  ((uint64_t)1 << 20)
#define DAVY_GGUF_NO_TYPE   UINT32_MAX
#define DAVY_GGUF_ARCH_LEN  24
#define DAVY_GGUF_NAME_LEN  96
#define DAVY_GGUF_LABEL_LEN 16

struct davy_gguf {
	uint64_t file_bytes;
	uint64_t tensor_count;
	uint64_t kv_count;
	uint32_t version;
	uint32_t file_type;	 /* llama.cpp's enum llama_ftype; DAVY_GGUF_NO_TYPE: missing */
	uint32_t context_length; /* context size in training; 0: missing, also below */
	uint32_t block_count;
	uint32_t split_count;	   /* number of files of the model */
	uint32_t embedding_length; /* determines the cache size per token */
	uint32_t head_count;
	uint32_t head_count_kv; /* per layer; if layers differ: see kv_heads */
	uint32_t kv_heads;	/* sum of all layers, if the file lists them */
	uint32_t key_length;
	uint32_t value_length;
	uint32_t sliding_window;	       /* some layers use only so many tokens */
	uint32_t kv_lora_rank;		       /* the cache is compressed to this rank */
	uint32_t state_size;		       /* some layers have a state instead of a cache */
	bool cut;			       /* the rest of the header was beyond the limit */
	char architecture[DAVY_GGUF_ARCH_LEN]; /* bytes of the file, not sanitized */
	char name[DAVY_GGUF_NAME_LEN];
	char size_label[DAVY_GGUF_LABEL_LEN]; /* "7B" */
};

/*
 * Reads the header of the open file with pread. -EINVAL: no GGUF; -EPROTONOSUPPORT: another version
 * or big endian; -EBADMSG: inconsistent; or the error of pread. A header beyond the limit gives the
 * fields before it.
 */
int davy_gguf_read(int fd, uint64_t file_bytes, struct davy_gguf *ret_gguf);

/*
 * Minimum size of a cache of "tokens", for llama.cpp's types of keys and values ("f16"). A layer
 * with a sliding window counts with the window. UINT64_MAX on overflow; 0: the file lacks the data.
 */
uint64_t davy_gguf_cache_bytes(const struct davy_gguf *gguf, uint32_t tokens, const char *type_k,
			       const char *type_v);

/* "Q4_K_M"; "": unknown number. */
const char *davy_gguf_quantisation(uint32_t file_type);

#endif
