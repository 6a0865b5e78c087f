/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/kmsg/kmsg_line.h"

#include <errno.h>
#include <string.h>

#include "sensors/kmsg/kmsg_prefix.h"
#include "sensors/kmsg/kmsg_table.h"

/* Drivers that write their name before a message, with aliases. */
static const struct {
	const char *name;
	enum davy_kmsg_driver driver;
} drivers[] = {
	{ "amdgpu", DAVY_KMSG_AMDGPU },	  { "kfd", DAVY_KMSG_AMDGPU },
	{ "amdkfd", DAVY_KMSG_AMDGPU },	  { "radeon", DAVY_KMSG_RADEON },
	{ "i915", DAVY_KMSG_I915 },	  { "xe", DAVY_KMSG_XE },
	{ "NVRM", DAVY_KMSG_NVIDIA },	  { "nvidia", DAVY_KMSG_NVIDIA },
	{ "nouveau", DAVY_KMSG_NOUVEAU }, { "amdxdna", DAVY_KMSG_NPU },
};

static bool kmsg_line_name_char(char c)
{
	return davy_kmsg_alnum(c) || c == '_' || c == '-' || c == '.';
}

static enum davy_kmsg_driver kmsg_line_driver_of(const char *name, size_t len,
						 enum davy_kmsg_driver fallback)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strlen(drivers[i].name) == len && !memcmp(drivers[i].name, name, len))
			return drivers[i].driver;
	/* nvidia-modeset, nvidia-uvm, nvidia-nvswitch3 */
	return len > 7 && !memcmp(name, "nvidia-", 7) ? DAVY_KMSG_NVIDIA : fallback;
}

enum davy_kmsg_driver davy_kmsg_driver_of(const char *name)
{
	return kmsg_line_driver_of(name, strlen(name), DAVY_KMSG_OTHER);
}

size_t davy_kmsg_pci(const char *text, char ret_device[DAVY_DEVICE_LEN])
{
	static const char shape[] = "hh:hh";
	char found[DAVY_DEVICE_LEN];
	size_t at = 0, used;

	while (at < 8 && davy_kmsg_hex(text[at]) >= 0)
		at++;
	if ((at != 4 && at != 8) || text[at] != ':')
		return 0;
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		char c = text[at + 1 + i];

		if (shape[i] == ':' ? c != ':' : davy_kmsg_hex(c) < 0)
			return 0;
	}
	used = at + 6;
	for (size_t i = 0; i < used; i++)
		found[i] = davy_kmsg_lower(text[i]);
	memcpy(found + used, ".0", 3);
	if (text[used] == '.' && text[used + 1] >= '0' && text[used + 1] <= '7') {
		found[used + 1] = text[used + 1];
		used += 2;
	}
	/* eight digits of domain become four if the upper four are 0 */
	at = at == 8 && !memcmp(found, "0000", 4) ? 4 : 0;
	memmove(ret_device, found + at, strlen(found + at) + 1);
	return used;
}

/* "amdgpu 0000:03:00.0: ": returns its length, 0 if "p" has none. */
static size_t kmsg_line_named_device(const char *p, struct davy_kmsg_line *line)
{
	char device[DAVY_DEVICE_LEN];
	size_t name = 0, address;

	while (name < 24 && kmsg_line_name_char(p[name]))
		name++;
	if (!name || p[name] != ' ')
		return 0;
	address = davy_kmsg_pci(p + name + 1, device);
	if (!address || p[name + 1 + address] != ':')
		return 0;
	davy_copy_name(line->device, sizeof(line->device), device);
	/* "NVRM: GPU 0000:01:00.0:" belongs to NVRM */
	if (line->driver == DAVY_KMSG_ANYBODY)
		line->driver = (uint8_t)kmsg_line_driver_of(p, name, DAVY_KMSG_OTHER);
	return name + address + 2;
}

/* "amdgpu:", "NVRM:", "nvidia-uvm:", "kfd kfd:" */
static size_t kmsg_line_named_driver(const char *p, struct davy_kmsg_line *line)
{
	enum davy_kmsg_driver driver;
	size_t len = 0;

	if (strncmp(p, "kfd kfd:", 8) == 0)
		p += 4;
	while (len < 24 && kmsg_line_name_char(p[len]))
		len++;
	if (!len || p[len] != ':')
		return 0;
	driver = kmsg_line_driver_of(p, len, DAVY_KMSG_ANYBODY);
	if (driver == DAVY_KMSG_ANYBODY)
		return 0;
	if (line->driver == DAVY_KMSG_ANYBODY)
		line->driver = (uint8_t)driver;
	return len + 1;
}

/* "[drm]", "[drm:func [module]]", "[drm:func]" */
static size_t kmsg_line_drm_tag(const char *p, struct davy_kmsg_line *line)
{
	const char *end, *module;

	if (strncmp(p, "[drm", 4) != 0)
		return 0;
	if (p[4] == ']')
		return 5;
	if (p[4] != ':')
		return 0;
	end = strchr(p, ']');
	if (!end || end - p > 120)
		return 0;
	module = memchr(p + 1, '[', (size_t)(end - p - 1));
	if (!module)
		return (size_t)(end - p) + 1;
	if (line->driver == DAVY_KMSG_ANYBODY)
		line->driver = (uint8_t)kmsg_line_driver_of(module + 1, (size_t)(end - module - 1),
							    DAVY_KMSG_ANYBODY);
	return (size_t)(end - p) + (end[1] == ']' ? 2 : 1);
}

/* "*ERROR*", "Tile0:", "GT1:", "[TTM]", amdgpu's "{7}" before a message of a RAS event */
static size_t kmsg_line_filler(const char *p)
{
	static const char *const words[] = { "*ERROR*", "[TTM]" };
	size_t len = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(p, words[i], strlen(words[i])))
			return strlen(words[i]);
	if (p[0] == '{' && davy_kmsg_digit(p[1])) {
		for (len = 2; len < 21 && davy_kmsg_digit(p[len]); len++)
			;
		return p[len] == '}' ? len + 1 : 0;
	}
	if (!strncmp(p, "GT", 2))
		len = 2;
	else if (!strncmp(p, "Tile", 4))
		len = 4;
	if (!len || p[len] < '0' || p[len] > '9')
		return 0;
	while (p[len] >= '0' && p[len] <= '9' && len < 7)
		len++;
	return p[len] == ':' ? len + 1 : 0;
}

/*
 * Skips the names and tags that drivers and DRM put before a message. Text after the name of a
 * non-GPU driver belongs to that driver.
 */
static const char *kmsg_line_strip_names(const char *p, struct davy_kmsg_line *line)
{
	size_t used = 1;

	for (int i = 0; i < 8 && used && line->driver != DAVY_KMSG_OTHER; i++) {
		used = kmsg_line_named_device(p, line);
		if (!used)
			used = kmsg_line_named_driver(p, line);
		if (!used)
			used = kmsg_line_drm_tag(p, line);
		if (!used)
			used = kmsg_line_filler(p);
		p = davy_kmsg_skip_blanks(p + used);
	}
	return p;
}

/* Leaves the message in line->text and determines the driver. */
static void kmsg_line_strip_driver(struct davy_kmsg_line *line)
{
	const char *p = davy_kmsg_skip_blanks(line->text);

	if (davy_kmsg_names_process(p))
		line->flags |= DAVY_KMSG_NAMED;
	else
		p = kmsg_line_strip_names(p, line);
	line->len = (uint32_t)strlen(p);
	memmove(line->text, p, line->len + 1);
}

bool davy_kmsg_line_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line)
{
	struct davy_kmsg_line *line = ret_line;
	const char *p;

	memset(line, 0, offsetof(struct davy_kmsg_line, text));
	line->priority = DAVY_KMSG_NO_PRIORITY;
	line->flags = DAVY_KMSG_SAVED;
	if (size > sizeof(line->text) - 1)
		size = sizeof(line->text) - 1;
	for (size_t i = 0; i < size; i++)
		line->text[i] = data[i] ? data[i] : '?';
	line->text[size] = 0;
	if (davy_kmsg_blank(line->text[0]))
		line->flags |= DAVY_KMSG_INDENTED;
	p = davy_kmsg_prefix(line->text, line);
	if (!p)
		return false;
	memmove(line->text, p, strlen(p) + 1);
	kmsg_line_strip_driver(line);
	return line->len > 0;
}

/* Messages that quote text, and messages about processes and their files. */
static bool kmsg_line_has_user_text(const struct davy_kmsg_line *line)
{
	return line->flags & DAVY_KMSG_NAMED || line->text[strcspn(line->text, "'\"`")];
}

bool davy_kmsg_line_continues(struct davy_kmsg_before *before, const struct davy_kmsg_line *line)
{
	if (!(line->flags & DAVY_KMSG_SAVED))
		return false;
	if (before->quotes && before->fine && line->flags & DAVY_KMSG_FINE &&
	    line->at_ns == before->at_ns)
		return true;
	if (before->quotes && before->stamped && !line->stamp[0] &&
	    line->flags & DAVY_KMSG_INDENTED)
		return true;
	before->quotes = kmsg_line_has_user_text(line);
	before->fine = line->flags & DAVY_KMSG_FINE;
	before->stamped = line->stamp[0];
	before->at_ns = line->at_ns;
	return false;
}

/* Copies the text of a record up to its newline and decodes \xNN. */
static void kmsg_line_unescape(const char *data, size_t size, struct davy_kmsg_line *line)
{
	size_t used = 0;

	for (size_t i = 0; i < size && used < sizeof(line->text) - 1; i++) {
		int high = -1, low = -1;

		if (data[i] == '\\' && size - i > 3 && data[i + 1] == 'x') {
			high = davy_kmsg_hex(data[i + 2]);
			low = davy_kmsg_hex(data[i + 3]);
		}
		line->text[used] = data[i];
		if (high >= 0 && low >= 0) {
			line->text[used] = (char)(high << 4 | low);
			i += 3;
		}
		if (!line->text[used])
			line->text[used] = '?';
		used++;
	}
	line->text[used] = 0;
}

/* "+pci:0000:03:00.0", "c226:128", "n3": a GPU, or a device made by its driver. */
static bool kmsg_line_is_gpu_bus(const char *device, size_t size)
{
	static const char *const buses[] = { "+pci:", "+drm:", "+accel:", "+platform:",
					     "+auxiliary:" };

	for (size_t i = 0; i < sizeof(buses) / sizeof(buses[0]); i++)
		if (size > strlen(buses[i]) && !memcmp(device, buses[i], strlen(buses[i])))
			return true;
	return size && device[0] == 'c';
}

static void kmsg_line_read_device(const char *device, size_t size, struct davy_kmsg_line *line)
{
	char address[DAVY_DEVICE_LEN + 5] = "";

	if (size > sizeof(address) - 1)
		size = sizeof(address) - 1;
	memcpy(address, device, size);
	if (!strncmp(address, "+pci:", 5)) {
		davy_kmsg_pci(address + 5, line->device);
	} else if (!kmsg_line_is_gpu_bus(device, size)) {
		line->driver = DAVY_KMSG_OTHER;
		line->device[0] = 0;
	}
}

/* The dictionary: lines that begin with a blank. */
static void kmsg_line_read_dictionary(const char *data, size_t size, struct davy_kmsg_line *line)
{
	static const char key[] = " DEVICE=";

	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		if (len > sizeof(key) - 1 && !memcmp(data, key, sizeof(key) - 1))
			kmsg_line_read_device(data + sizeof(key) - 1, len - (sizeof(key) - 1),
					      line);
		if (!end)
			break;
		data += len + 1;
		size -= len + 1;
	}
}

/* A decimal number that ends with ',' or ';'. Returns the bytes used, 0 if invalid. */
static size_t kmsg_line_field(const char *data, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < size && i < 20 && data[i] >= '0' && data[i] <= '9'; i++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(data[i] - '0'), &value))
			return 0;
	if (!i || i == size || (data[i] != ',' && data[i] != ';'))
		return 0;
	*ret_value = value;
	return i + 1;
}

int davy_kmsg_record_parse(const char *data, size_t size, struct davy_kmsg_line *ret_line)
{
	struct davy_kmsg_line *line = ret_line;
	uint64_t fields[3] = { 0 };
	const char *text, *end;
	size_t at = 0;

	for (size_t i = 0; i < 3; i++) {
		size_t used = kmsg_line_field(data + at, size - at, &fields[i]);

		if (!used)
			return -EINVAL;
		at += used;
	}
	text = memchr(data + at - 1, ';', size - at + 1);
	if (!text)
		return -EINVAL;
	text++;
	memset(line, 0, offsetof(struct davy_kmsg_line, text));
	line->priority = (uint8_t)(fields[0] & 7);
	line->seq = fields[1];
	line->at_ns = fields[2] > UINT64_MAX / 1000 ? UINT64_MAX : fields[2] * 1000;
	line->clock = DAVY_KMSG_PRINTK;
	if (fields[0] >> 3)
		return -EPERM;
	size -= (size_t)(text - data);
	end = memchr(text, '\n', size);
	kmsg_line_unescape(text, end ? (size_t)(end - text) : size, line);
	kmsg_line_strip_driver(line);
	if (end)
		kmsg_line_read_dictionary(end + 1, size - (size_t)(end + 1 - text), line);
	return 0;
}
