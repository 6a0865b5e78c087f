// SPDX-License-Identifier: GPL-2.0
/* Commands for a device that is bound to the real amdgpu driver (as a Southern Islands one). */
#include <inttypes.h>
#include <stdio.h>

#include "fire.h"

#define IV_BYTES	16
#define PAGE_FAULT_DATA 0x00abcdefu /* the fault's first data word, which the driver prints */

struct ih_ring {
	uint64_t adev, ih; /* addresses in the kernel */
	uint64_t ring, wptr_at;
	uint32_t rptr, mask;
};

static uint64_t load_field(struct fire_session *s, uint64_t base, const char *type,
			   const char *path)
{
	struct fire_field f = fire_field_of(s, type, path);

	return fire_load(s, f.size, base + f.offset);
}

/* The device's struct amdgpu_device. memcpy() returns its destination: this resolves an address. */
static uint64_t find_adev(struct fire_session *s, const char *pci)
{
	uint32_t ddev = fire_field_of(s, "amdgpu_device", "ddev").offset;

	fire_send(s, "call 1 task memcpy drv:%s-%u 0 0", pci, ddev);
	return fire_result(s);
}

static struct ih_ring find_ih_ring(struct fire_session *s, const char *pci)
{
	struct ih_ring r = { .adev = find_adev(s, pci) };

	r.ih = r.adev + fire_field_of(s, "amdgpu_device", "irq.ih").offset;
	r.ring = load_field(s, r.ih, "amdgpu_ih_ring", "ring");
	r.wptr_at = load_field(s, r.ih, "amdgpu_ih_ring", "wptr_cpu");
	r.rptr = (uint32_t)load_field(s, r.ih, "amdgpu_ih_ring", "rptr");
	r.mask = (uint32_t)load_field(s, r.ih, "amdgpu_ih_ring", "ptr_mask");
	return r;
}

/*
 * Does what the hardware does: an entry is written to the device's interrupt ring, the write
 * pointer advances, and the driver's handler runs in hard interrupt context. It finds a page fault
 * in the entry (by its source) and reports it. The words are those of si_ih_decode_iv().
 */
static void fault_once(struct fire_session *s, const struct fire_options *o, uint32_t entry)
{
	struct ih_ring r = find_ih_ring(s, o->dev_name);

	fire_send(s, "put %u 0 4 %" PRIu64, entry, o->src);
	fire_send(s, "put %u 4 4 %u", entry, PAGE_FAULT_DATA);
	fire_send(s, "put %u 8 4 %" PRIu64, entry, (o->vmid & 0xff) << 8 | (o->ring_id & 0xff));
	fire_send(s, "put %u %u 4 %u", entry, IV_BYTES, (r.rptr + IV_BYTES) & r.mask);
	fire_send(s, "call 1 task memcpy 0x%" PRIx64 " &%u+0 %u", r.ring + r.rptr, entry, IV_BYTES);
	fire_send(s, "call 1 task memcpy 0x%" PRIx64 " &%u+%u 4", r.wptr_at, entry, IV_BYTES);
	fire_send(s, "call 1 irq amdgpu_ih_process 0x%" PRIx64 " 0x%" PRIx64, r.adev, r.ih);
}

void fire_fault(struct fire_session *s, const struct fire_options *o)
{
	uint32_t entry = fire_bytes_new(s, IV_BYTES + 4);

	for (uint64_t i = 0; i < o->count && !s->err; i++)
		fault_once(s, o, entry);
	if (!s->err)
		printf("fault=%s count=%" PRIu64 " src=%" PRIu64 "\n", o->dev_name, o->count,
		       o->src);
}

/*
 * The driver polls a register up to usec_timeout times (100,000), and the lab's registers never
 * change: before "PCI CONFIG reset" in the log, a reset took a minute on a busy host (7.2).
 */
void fire_impatient(struct fire_session *s, const char *pci)
{
	uint32_t offset = fire_field_of(s, "amdgpu_device", "usec_timeout").offset;
	uint32_t times = fire_bytes_new(s, 4);

	fire_send(s, "put %u 0 4 100", times);
	fire_send(s, "call 1 task memcpy 0x%" PRIx64 " &%u+0 4", find_adev(s, pci) + offset, times);
}

/* "off", or the PCI address of the device whose rings run. */
void fire_engine(struct fire_session *s, const char *pci)
{
	static const char *const fields[] = {
		"fence_drv.initialized", "fence_drv.sync_seq",	      "fence_drv.cpu_addr",
		"fence_drv.fences",	 "fence_drv.num_fences_mask",
	};
	struct fire_field rings = fire_field_of(s, "amdgpu_device", "rings");
	uint32_t at[sizeof(fields) / sizeof(fields[0])];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		at[i] = fire_field_of(s, "amdgpu_ring", fields[i]).offset;
	fire_send(s, "engine %s %u %u %u %u %u %u %u %u", pci,
		  fire_field_of(s, "amdgpu_device", "ddev").offset, rings.offset,
		  rings.size / (uint32_t)sizeof(uint64_t), at[0], at[1], at[2], at[3], at[4]);
	if (!s->err)
		printf("engine=%s\n", pci);
}
