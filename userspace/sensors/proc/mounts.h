/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a file can be read without blocking: it must be on a file system that the kernel
 * reads from a local disk or memory. A user process serves FUSE. NFS, CIFS, Ceph and 9p wait for a
 * server in a state that SIGKILL cannot end. Unknown file systems count as not local. Only
 * mountinfo is read (proc_pid_mountinfo(5)); no file system is called.
 *
 * The options of an overlay contain the layer paths as of the mount. A user may mount an overlay
 * over FUSE in an own namespace. An overlay is therefore trusted only if the first process has it
 * too (root's Docker, containerd, Podman and CRI-O mount theirs so) and every layer is on a local
 * mount there.
 */
#ifndef DAVY_MOUNTS_H
#define DAVY_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* The file may be open with O_PATH. Searches the mounts of process "pid", then ours. */
bool davy_file_is_local(uint32_t pid, int fd);

#endif
