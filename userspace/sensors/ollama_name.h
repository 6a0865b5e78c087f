/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ollama's name of a blob: manifests/REGISTRY/NAMESPACE/NAME/TAG in the models folder is JSON; the
 * layer of the media type "application/vnd.ollama.image.model" has the blob's digest.
 */
#ifndef DL_SENSORS_OLLAMA_NAME_H
#define DL_SENSORS_OLLAMA_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * "dir" is the models folder as process "pid" names it, "digest" the 64 digits. A blob of several
 * names gets the first by the alphabet. -ENOENT: no manifest has it.
 */
int dl_ollama_name(uint32_t pid, const char *dir, const char *digest, char *ret_name, size_t size);

/* Whether the manifest's text names the digest as its model. */
int dl_ollama_manifest_has(const char *text, size_t size, const char *digest);

#endif
