/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ollama's name of a blob: manifests/REGISTRY/NAMESPACE/NAME/TAG in the models folder is JSON; the
 * layer of the media type "application/vnd.ollama.image.model" has the blob's digest.
 */
#ifndef DAVY_OLLAMA_NAME_H
#define DAVY_OLLAMA_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * "dir" is the models folder as process "pid" names it, "digest" the 64 digits. A blob of several
 * names gets the first by the alphabet. -ENOENT: no manifest has it.
 */
int davy_ollama_name(uint32_t pid, const char *dir, const char *digest, char *ret_name,
		     size_t size);

#define DAVY_OLLAMA_DIGEST_LEN 65 /* 64 digits */

/*
 * The other way round, of this host: "dir" is a models folder, "name" as Ollama takes it
 * ("llama3.2:1b", "hf.co/a/b"). -ENOENT: it has no such model; -EINVAL: the name is none; -EBADMSG:
 * its manifest is.
 */
int davy_ollama_blob(const char *dir, const char *name, char ret_digest[DAVY_OLLAMA_DIGEST_LEN]);

/* Whether the manifest's text names the digest as its model. */
int davy_ollama_manifest_has(const char *text, size_t size, const char *digest);

#endif
