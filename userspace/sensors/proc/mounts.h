/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a file lies where nobody has to be waited for: on a file system that the kernel itself
 * reads from a local disk or from memory. FUSE is served by whoever mounted it; NFS, CIFS, Ceph and
 * 9p wait for a server, in a state that SIGKILL does not end. Everything that is not known to be
 * local is not. Only mountinfo is read (proc_pid_mountinfo(5)): no file system is asked.
 *
 * An overlay's options name its layers as they were called where it was mounted, and a user may
 * mount one over FUSE in a namespace of his own. It is believed when the first process has it too
 * (so Docker, containerd, Podman and CRI-O mount those of root) and every layer lies on a local
 * mount there.
 */
#ifndef DAVY_MOUNTS_H
#define DAVY_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* The file is open, O_PATH also; its mount is looked for as process "pid" has it, or we have. */
bool davy_file_is_local(uint32_t pid, int fd);

#endif
