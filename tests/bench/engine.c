// SPDX-License-Identifier: GPL-2.0-or-later
/* Named llama-server, an engine that the agent recognises. It waits for its end. */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
