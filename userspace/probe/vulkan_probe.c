/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes all Vulkan devices, or one: properties, and whether it works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/answer.h"
#include "probe/probe.h"
#include "probe/vulkan.h"

#define DEVICES_MAX 64

struct verdict {
	const char *why; /* NULL: healthy */
	char stage[16];	 /* of the first failure */
	char device[24];
	char text[160];
};

static void vulkan_probe_blame(struct verdict *v, const char *device, const char *why)
{
	if (v->why)
		return; /* keep the first failure */
	snprintf(v->text, sizeof(v->text), "%s", why);
	snprintf(v->stage, sizeof(v->stage), "%s", davy_answer_last_stage());
	snprintf(v->device, sizeof(v->device), "%s", device ? device : "");
	v->why = v->text;
}

/* Disables the drivers' shader caches: a probe leaves no files. */
static void leave_no_cache(void)
{
	setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
	setenv("__GL_SHADER_DISK_CACHE", "0", 1);
}

static bool is_asked_for(const struct davy_vk_device *d, const char *asked)
{
	char index[16];

	snprintf(index, sizeof(index), "%u", d->index);
	return !asked || !strcasecmp(asked, d->address) || !strcmp(asked, index);
}

static json_t *vulkan_probe_look_at(struct davy_vk_device *d, const struct davy_probe_options *o,
				    struct verdict *v)
{
	json_t *object, *work;
	VkResult result;
	char why[160], buf[32];

	snprintf(d->address, sizeof(d->address), "%u", d->index);
	davy_answer_stage("enumerate", d->address);
	object = davy_vk_describe(d);
	if (!is_asked_for(d, o->device)) {
		json_decref(object);
		return NULL;
	}
	if (o->list)
		return object;
	work = davy_vk_submit(d, &result);
	json_object_set_new(object, "submit", work);
	if (result != VK_SUCCESS) {
		snprintf(why, sizeof(why), "%s",
			 result == VK_TIMEOUT ? "a fill of 1 MiB did not end within 2 s"
					      : davy_vk_result_name(result, buf, sizeof(buf)));
		vulkan_probe_blame(v, d->address, why);
	}
	return object;
}

static json_t *vulkan_probe_look_at_all(const struct davy_vk *vk,
					const struct davy_probe_options *o, struct verdict *v)
{
	VkPhysicalDevice physical[DEVICES_MAX];
	uint32_t count = DEVICES_MAX;
	json_t *list = json_array();
	char buf[32];
	VkResult result;

	davy_answer_stage("enumerate", NULL);
	result = vk->EnumeratePhysicalDevices(vk->instance, &count, physical);
	if (result < 0) {
		vulkan_probe_blame(v, NULL, davy_vk_result_name(result, buf, sizeof(buf)));
		return list;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct davy_vk_device d = { .vk = vk, .physical = physical[i], .index = i };
		json_t *object = vulkan_probe_look_at(&d, o, v);

		if (object)
			json_array_append_new(list, object);
	}
	if (!json_array_size(list))
		vulkan_probe_blame(v, NULL,
				   o->device ? "no such Vulkan device" : "no Vulkan device");
	return list;
}

int davy_probe_vulkan(const struct davy_probe_options *options)
{
	struct davy_vk vk = { 0 };
	struct verdict v = { 0 };
	VkResult result = VK_SUCCESS;
	const char *why, *name;
	json_t *answer = json_object();
	char buf[32], text[160];

	leave_no_cache();
	why = davy_vk_open(&vk, &result);
	if (why) {
		name = davy_vk_result_name(result, buf, sizeof(buf));
		snprintf(text, sizeof(text), result ? "%s: %s" : "%s", why, name);
		vulkan_probe_blame(&v, NULL, text);
	}
	if (vk.loader_version)
		json_object_set_new(answer, "loader",
				    json_sprintf("%u.%u.%u",
						 VK_API_VERSION_MAJOR(vk.loader_version),
						 VK_API_VERSION_MINOR(vk.loader_version),
						 VK_API_VERSION_PATCH(vk.loader_version)));
	json_object_set_new(answer, "devices",
			    why ? json_array() : vulkan_probe_look_at_all(&vk, options, &v));
	json_object_set_new(answer, "ok", json_boolean(!v.why));
	json_object_set_new(answer, "stage", json_string(v.why ? v.stage : "done"));
	if (v.why)
		json_object_set_new(answer, "why", davy_answer_text(v.text));
	if (v.device[0])
		json_object_set_new(answer, "blamed", json_string(v.device));
	return davy_answer_give(answer);
}
