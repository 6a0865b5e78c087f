/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device files, and whether the service's user may open them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "doctor/checks.h"

/* "crw-rw----, group render". The owner is almost always root. */
static const char *shown_mode(const struct davy_doctor_node *n, char buf[64])
{
	static const char letters[] = "rwxrwxrwx";
	char mode[10];

	for (int i = 0; i < 9; i++)
		mode[i] = n->mode >> (8 - i) & 1 ? letters[i] : '-';
	mode[9] = 0;
	if (n->group[0])
		snprintf(buf, 64, "%s, group %.30s", mode, n->group);
	else
		snprintf(buf, 64, "%s, group %u", mode, n->gid);
	return buf;
}

DAVY_CHECK(nodes)
{
	for (size_t i = 0; i < facts->node_count; i++) {
		const struct davy_doctor_node *n = &facts->node[i];
		bool good = n->exists && n->is_device;
		struct davy_finding *f =
			davy_finding_add(findings, check, good ? DAVY_FOUND_OK : DAVY_FOUND_FAILURE,
					 n->backends, n->path);
		char mode[64];

		if (good) {
			davy_finding_evidence(f, "%s", shown_mode(n, mode));
			continue;
		}
		davy_finding_evidence(f, "%s", n->exists ? "not a device file" : "missing");
		if (n->kind == DAVY_NODE_NVIDIA)
			davy_finding_fix(f, "run 'nvidia-modprobe -u -c 0', or nvidia-persistenced "
					    "as a service");
		else
			davy_finding_fix(f,
					 "udev creates it: 'udevadm trigger'; for a container "
					 "pass it through (--device %s)",
					 n->path);
		davy_finding_verify(f, "ls -l %s", n->path);
	}
	if (!facts->node_count)
		davy_check_not_needed(findings, check, "no driver of this host creates one");
}

DAVY_CHECK(service)
{
	const struct davy_doctor_service *s = &facts->service;
	struct davy_finding *f;
	char groups[160] = "";

	f = davy_finding_add(findings, check, s->known ? DAVY_FOUND_OK : DAVY_FOUND_UNCHECKED, 0,
			     s->unit);
	if (!s->known) {
		davy_finding_evidence(f, "%s", s->why);
		davy_finding_fix(
			f,
			"name the service, user or process: --unit UNIT, --user USER or --pid PID");
		davy_finding_verify(f, "davylamp doctor --unit ollama.service");
		return;
	}
	for (size_t i = 0; i < s->group_count && strlen(groups) < sizeof(groups) - 12; i++)
		snprintf(groups + strlen(groups), sizeof(groups) - strlen(groups), "%s%u",
			 i ? " " : "", s->groups[i]);
	davy_finding_evidence(f, "user %s (%u), group %u, further groups %s%s%s", s->user, s->uid,
			      s->gid, groups[0] ? groups : "none",
			      s->pid ? ", as in its process" : "",
			      s->environment_known ? "" : "; its environment is unknown");
}

static void say_denied(struct davy_finding *f, const struct davy_doctor_node *n,
		       const struct davy_doctor_service *s)
{
	char mode[64], verify[64];

	davy_finding_evidence(f, "user %s (%u) cannot open it: %s%s; it is %s", s->user, s->uid,
			      davy_error_text(n->error), s->joined ? ", tried in its cgroup" : "",
			      shown_mode(n, mode));
	if (n->error == -EPERM)
		davy_finding_fix(f,
				 "the cgroup's device rules refuse it: DeviceAllow=%s rw in the "
				 "unit, or --device %s for a container",
				 n->path, n->path);
	else if (n->error == -EACCES && (n->mode & 0060) == 0060 && n->gid)
		davy_finding_fix(f,
				 "usermod -aG %s %s (or SupplementaryGroups=%s in the unit), and "
				 "restart the service",
				 n->group[0] ? n->group : "the file's group", s->user,
				 n->group[0] ? n->group : "the file's group");
	else if (n->error == -EACCES)
		davy_finding_fix(f, "assign it to a group: a udev rule with GROUP=\"render\", "
				    "MODE=\"0660\", then 'udevadm trigger'");
	else
		davy_finding_fix(f, "its driver is gone: see 'dmesg', and load the driver again");
	snprintf(verify, sizeof(verify), "%s", n->path);
	davy_finding_verify(f, "setpriv --reuid=%u --regid=%u --init-groups sh -c ': <>%s'", s->uid,
			    s->gid, verify);
}

DAVY_CHECK(access)
{
	size_t looked = 0;

	for (size_t i = 0; i < facts->node_count; i++) {
		const struct davy_doctor_node *n = &facts->node[i];
		struct davy_finding *f;
		char mode[64];

		if (!n->exists || !n->is_device)
			continue;
		looked++;
		f = davy_finding_add(findings, check,
				     !n->tested ? DAVY_FOUND_UNCHECKED
				     : n->error ? DAVY_FOUND_FAILURE
						: DAVY_FOUND_OK,
				     n->backends, n->path);
		if (n->tested && n->error) {
			say_denied(f, n, &facts->service);
		} else if (n->tested) {
			davy_finding_evidence(f, "user %s (%u) has opened it%s; it is %s",
					      facts->service.user, facts->service.uid,
					      facts->service.joined ? " in its cgroup" : "",
					      shown_mode(n, mode));
		} else {
			davy_finding_evidence(f, "not tried: %s",
					      n->error ? davy_error_text(n->error)
						       : facts->service.why);
			davy_finding_fix(f, "run 'davylamp doctor' as root");
			davy_finding_verify(f, "davylamp doctor %s", facts->service.as);
		}
	}
	if (!looked)
		davy_check_not_needed(findings, check, "no device file");
}

DAVY_CHECK(container)
{
	const struct davy_doctor_service *s = &facts->service;
	struct davy_finding *f;
	bool bad = s->private_devices && facts->gpu_count;

	if (!s->unit[0] && !s->pid) {
		davy_check_not_needed(findings, check, "no service or process was given");
		return;
	}
	f = davy_finding_add(findings, check, bad ? DAVY_FOUND_FAILURE : DAVY_FOUND_OK,
			     DAVY_BIT(VULKAN) | DAVY_BIT(ROCM) | DAVY_BIT(CUDA) | DAVY_BIT(SYCL),
			     s->unit);
	if (bad) {
		davy_finding_evidence(f, "PrivateDevices=yes: its /dev has no GPU");
		davy_finding_fix(f,
				 "PrivateDevices=no in a drop-in ('systemctl edit %s'), with "
				 "DevicePolicy=closed and DeviceAllow= for the GPU's files",
				 s->unit);
		davy_finding_verify(f, "systemctl show -p PrivateDevices %s", s->unit);
		return;
	}
	davy_finding_evidence(
		f, "%s%s%s%s%s%s",
		s->own_root ? "it has its own root (a container)" : "its root is the host's",
		s->device_policy[0] ? ", DevicePolicy=" : "", s->device_policy,
		s->joined ? "; the device files were tested in its cgroup" : "",
		s->cgroup_strangers ? "; its cgroup is not controlled by root alone, so it "
				      "was not used for tests"
				    : "",
		s->cgroup_full ? "; the memory limit of its cgroup is nearly reached, so it "
				 "was not used for tests"
			       : "");
}

DAVY_CHECK(frozen)
{
	const struct davy_doctor_service *s = &facts->service;
	struct davy_finding *f;
	char safe[256];

	if (!s->pid) {
		davy_check_not_needed(findings, check, "the service has no process");
		return;
	}
	f = davy_finding_add(findings, check, s->frozen ? DAVY_FOUND_FAILURE : DAVY_FOUND_OK, 0,
			     s->unit);
	if (!s->frozen) {
		davy_finding_evidence(f, "not frozen");
		return;
	}
	davy_text_safe(safe, sizeof(safe), s->cgroup);
	davy_finding_evidence(
		f, "its cgroup '%s', or one above it, is frozen: no process in it runs", safe);
	davy_finding_fix(
		f, "thaw it: 'systemctl thaw UNIT', or write 0 to the cgroup.freeze file that "
		   "contains 1; 'davylamp status' shows whether the agent froze it");
	davy_finding_verify(f, "davylamp doctor %s",
			    s->as); /* not the path: it is untrusted text */
}
