// SPDX-License-Identifier: GPL-2.0-or-later
//
// Throws what ggml's Vulkan backend throws, through a frame like its own, and catches it. Named
// llama-server by the test. Argument: how often; then it ends as the second argument says. With
// THROW_WHEN it waits until that file is there, with THROW_PID its number goes into that file.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

namespace vk {
struct DeviceLostError : std::runtime_error {
	using std::runtime_error::runtime_error;
};
struct OutOfDeviceMemoryError : std::runtime_error {
	using std::runtime_error::runtime_error;
};
}

int main(int argc, char **argv)
{
	int count = argc > 3 ? atoi(argv[argc - 2]) : 0;
	const char *end = argv[argc - 1];

	if (const char *file = getenv("THROW_PID")) {
		FILE *pid = fopen(file, "w");

		if (pid) {
			fprintf(pid, "%d\n", getpid());
			fclose(pid);
		}
	}
	if (const char *file = getenv("THROW_WHEN")) {
		for (int tenths = 0; access(file, F_OK) && tenths < 6000; tenths++)
			usleep(100000);
	} else {
		sleep(1); // the agent looks at a new process within milliseconds
	}
	for (int i = 0; i < count; i++) {
		try {
			if (i % 2)
				throw vk::OutOfDeviceMemoryError("memory");
			throw vk::DeviceLostError("lost");
		} catch (const std::exception &) {
		}
		try {
			throw std::runtime_error("somebody else's");
		} catch (const std::exception &) {
		}
	}
	if (!strcmp(end, "abort"))
		abort();
	if (!strcmp(end, "kill"))
		raise(SIGKILL);
	return atoi(end);
}
