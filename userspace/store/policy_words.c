/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/policy_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "store/config_value.h"
#include "store/policy_names.h"

static bool number_read(enum davy_unit unit, const char *what, const char *text, int64_t min,
			int64_t max, int64_t *ret_number, struct davy_policy_wrong *wrong)
{
	int err = davy_config_value(unit, text, ret_number);
	char low[DAVY_CONFIG_VALUE_LEN], high[DAVY_CONFIG_VALUE_LEN];

	if (!err && *ret_number >= min && *ret_number <= max)
		return true;
	if (err == -EINVAL || err == -EDOM)
		return davy_policy_wrong_at(wrong, 0, "wrong value '%.80s' of '%s', expected %s",
					    text, what, davy_config_value_form(unit));
	davy_config_value_text(unit, min, low);
	davy_config_value_text(unit, max, high);
	return davy_policy_wrong_at(wrong, 0, "'%.80s' of '%s' is out of range, expected %s to %s",
				    text, what, low, high);
}

/* Whether it can be written into a file again and printed unchanged. */
static bool text_read(const char *what, const char *text, struct davy_policy_wrong *wrong)
{
	size_t at = davy_text_shown_length(text);

	if (strlen(text) >= DAVY_RULE_TEXT_LEN)
		return davy_policy_wrong_at(wrong, DAVY_RULE_TEXT_LEN - 1,
					    "'%s' of %zu bytes, expected at most %d", what,
					    strlen(text), DAVY_RULE_TEXT_LEN - 1);
	if (text[at])
		return davy_policy_wrong_at(
			wrong, at, "a byte in '%s' that cannot be shown, expected plain text",
			what);
	return true;
}

bool davy_policy_condition_read(enum davy_condition condition, const char *text,
				uint64_t *ret_number, struct davy_policy_wrong *wrong)
{
	const char *name = davy_condition_name(condition);
	int64_t number = 0;
	bool good;

	if (!text_read(name, text, wrong))
		return false;
	if (condition == DAVY_IF_COMPUTE_UNITS_BELOW)
		good = number_read(DAVY_UNIT_COUNT, name, text, 1, 65536, &number, wrong);
	else if (condition == DAVY_IF_CONTEXT_ABOVE)
		good = number_read(DAVY_UNIT_COUNT, name, text, 0, 1 << 30, &number, wrong);
	else if (condition == DAVY_IF_LOCKUP_BELOW)
		good = number_read(DAVY_UNIT_MS, name, text, 1, 86400000, &number, wrong);
	else
		good = davy_policy_patterns_read(condition, text, wrong);
	*ret_number = (uint64_t)number *
		      (condition == DAVY_IF_LOCKUP_BELOW ? DAVY_NS_PER_MS : (uint64_t)1);
	return good;
}

/* For an environment file or an argument: only characters that need no quotes. */
static bool plain_read(enum davy_policy_key key, const char *text, struct davy_policy_wrong *wrong)
{
	static const char both[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   ",.:/_+=@-";
	static const char more[] = "*^|()[]{}?<>~!&#%";
	size_t at = 0;

	while (text[at] &&
	       (strchr(both, text[at]) || (key == DAVY_POLICY_ARGUMENT && strchr(more, text[at]))))
		at++;
	if (text[at])
		return davy_policy_wrong_at(wrong, at,
					    "a '%c' in the value of '%s', expected letters, digits "
					    "and %s%s",
					    text[at], davy_policy_key_name(key), both + 62,
					    key == DAVY_POLICY_ARGUMENT ? more : "");
	return true;
}

/* "KEY VALUE" of a hazard. */
static bool threshold_read(const char *text, int64_t *ret_number, struct davy_policy_wrong *wrong)
{
	size_t len = strcspn(text, " ");
	char name[48];
	int key;

	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	key = davy_config_find(name);
	if (key < 0 || !text[len] || !davy_config_scoped((enum davy_config_key)key))
		return davy_policy_wrong_at(wrong, 0,
					    "'%.80s' is no threshold, expected a key of a hazard "
					    "and its value, such as 'job_stall.level2 60 %%'",
					    text);
	return number_read(
		davy_config_rows[key].unit, name, text + len + 1, davy_config_rows[key].min,
		davy_config_rows[key].max < UINT32_MAX ? davy_config_rows[key].max : UINT32_MAX,
		ret_number, wrong);
}

bool davy_policy_value_read(enum davy_policy_key key, const char *text, uint32_t *ret_number,
			    struct davy_policy_wrong *wrong)
{
	static const int64_t most[DAVY_POLICY_KEY_COUNT] = {
		[DAVY_POLICY_UBATCH] = 1 << 20,	     [DAVY_POLICY_UBATCH_FLOOR] = 1 << 20,
		[DAVY_POLICY_CONTEXT] = 1 << 30,     [DAVY_POLICY_PARALLEL] = 4096,
		[DAVY_POLICY_GPU_LAYERS_OFF] = 4096,
	};
	const char *name = davy_policy_key_name(key);
	int64_t number = 0;

	*ret_number = 0;
	if (!text_read(name, text, wrong))
		return false;
	if (!text[0] && key != DAVY_POLICY_ENVIRONMENT && key != DAVY_POLICY_ARGUMENT)
		return davy_policy_wrong_at(wrong, 0, "'%s' has no value", name);
	if (key == DAVY_POLICY_BACKENDS)
		return davy_policy_backends_read(text, ret_number, wrong);
	if (key == DAVY_POLICY_CACHE_TYPE)
		return davy_policy_cache_type_read(text, ret_number, wrong);
	if (key == DAVY_POLICY_MODE)
		return davy_policy_mode_read(text, ret_number, wrong);
	if (key == DAVY_POLICY_ENVIRONMENT || key == DAVY_POLICY_ARGUMENT)
		return plain_read(key, text, wrong);
	if (key == DAVY_POLICY_WARN)
		return true;
	if (key >= DAVY_POLICY_VRAM_MAX && key <= DAVY_POLICY_VRAM_PROTECT) {
		if (!number_read(DAVY_UNIT_BYTES, name, text, 0, (int64_t)UINT32_MAX << 10, &number,
				 wrong))
			return false;
		*ret_number = (uint32_t)(number >> 10);
		return true;
	}
	if (key == DAVY_POLICY_THRESHOLD
		    ? !threshold_read(text, &number, wrong)
		    : !number_read(DAVY_UNIT_COUNT, name, text, 0, most[key], &number, wrong))
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

bool davy_policy_name_read(enum davy_policy_key key, const char *name,
			   struct davy_policy_wrong *wrong)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789-";
	bool variable = key == DAVY_POLICY_ENVIRONMENT;
	size_t good = strspn(name, letters);

	if (variable) {
		good = strcspn(name, "-");
		good = strspn(name, letters) < good ? strspn(name, letters) : good;
		if (name[0] >= '0' && name[0] <= '9')
			good = 0;
	} else if (name[0] != '-') {
		good = 0;
	}
	if (name[0] && !name[good] && strlen(name) < 64)
		return true;
	return davy_policy_wrong_at(
		wrong, strlen(name) < 64 ? good : 63, "'%.80s' is no name of %s", name,
		variable ? "a variable, expected letters, digits and '_', at most 63"
			 : "an option, expected one such as '-fa' or '--no-mmap'");
}

bool davy_policy_said_read(const char *key, const char *text, struct davy_policy_wrong *wrong)
{
	if (!text[0])
		return davy_policy_wrong_at(wrong, 0, "'%s' has no text", key);
	return text_read(key, text, wrong);
}

bool davy_policy_date_read(const char *text, struct davy_policy_wrong *wrong)
{
	static const char form[] = "0000-00-00";
	unsigned int month = 0, day = 0;

	for (size_t i = 0; i < sizeof(form); i++) {
		bool good = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];

		if (!good)
			return davy_policy_wrong_at(
				wrong, i, "wrong date '%.80s', expected YYYY-MM-DD", text);
	}
	month = (unsigned int)(10 * (text[5] - '0') + text[6] - '0');
	day = (unsigned int)(10 * (text[8] - '0') + text[9] - '0');
	if (month < 1 || month > 12)
		return davy_policy_wrong_at(wrong, 5, "month %02u of '%s', expected 01 to 12",
					    month, text);
	if (day < 1 || day > 31)
		return davy_policy_wrong_at(wrong, 8, "day %02u of '%s', expected 01 to 31", day,
					    text);
	return true;
}

bool davy_policy_pin_read(const char *text, bool *ret_pin, struct davy_policy_wrong *wrong)
{
	*ret_pin = davy_same_name(text, "yes");
	if (*ret_pin || davy_same_name(text, "no"))
		return true;
	return davy_policy_wrong_at(wrong, 0, "wrong value '%.80s' of 'pin', expected yes or no",
				    text);
}
