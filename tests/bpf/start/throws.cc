/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An exception that unwinds through a traced call; built as library (LIBRARY) and program. */
#include <cstdio>
#include <stdexcept>

extern "C" void *ggml_backend_load(const char *path);

#ifdef LIBRARY
extern "C" void *ggml_backend_load(const char *path)
{
	throw std::runtime_error(path);
}
#else
int main()
{
	for (int i = 0; i < 20; i++)
		try {
			ggml_backend_load("libggml-cuda.so");
			return 1;
		} catch (const std::runtime_error &) {
		}
	return 7;
}
#endif
