/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the backend policy: accepted rules, the message for a wrong line, written rules. */
#include "policy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"

static char dir[64];

static int make_dir(void **state)
{
	char path[80];

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/davylamp-unit-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	for (int i = 0; i < DAVY_LAYER_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, davy_layer_name((enum davy_layer)i));
		if (mkdir(path, 0755))
			return -1;
	}
	return 0;
}

static const char *path_of(enum davy_layer kind, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, davy_layer_name(kind), name);
	return path;
}

static int remove_dir(void **state)
{
	(void)state;
	for (int i = 0; i < DAVY_LAYER_COUNT; i++) {
		unlink(path_of((enum davy_layer)i, DAVY_POLICY_NAME));
		rmdir(path_of((enum davy_layer)i, ""));
	}
	return rmdir(dir);
}

static void put_at(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

static void put_file(enum davy_layer kind, const char *text)
{
	put_at(path_of(kind, DAVY_POLICY_NAME), text);
}

static void every_key_is_read(void **state)
{
	static const uint32_t numbers[DAVY_POLICY_KEY_COUNT] = {
		[DAVY_POLICY_BACKENDS] = DAVY_BACKEND_VULKAN | DAVY_BACKEND_CPU << 4,
		[DAVY_POLICY_UBATCH] = 128,
		[DAVY_POLICY_UBATCH_FLOOR] = 64,
		[DAVY_POLICY_CONTEXT] = 32768,
		[DAVY_POLICY_PARALLEL] = 2,
		[DAVY_POLICY_GPU_LAYERS_OFF] = 4,
		[DAVY_POLICY_CACHE_TYPE] = DAVY_CACHE_Q8_0,
		[DAVY_POLICY_MODE] = DAVY_MODE_ADVISE,
		[DAVY_POLICY_VRAM_MAX] = 12 << 20, /* KiB */
		[DAVY_POLICY_VRAM_RESERVE] = 512 << 10,
		[DAVY_POLICY_VRAM_HIGH] = 11 << 20,
		[DAVY_POLICY_VRAM_PROTECT] = 2 << 20,
	};
	const struct davy_policy_layer *l = &layers.at[DAVY_LAYER_ADMIN];

	(void)state;
	davy_policy_layers_init(&layers);
	assert_int_equal(
		policy_read(DAVY_LAYER_ADMIN,
			    "[rule all]\nbackends = vulkan, cpu\nubatch = 128\nubatch_floor = 64\n"
			    "context = 32768\nparallel = 2\ngpu_layers_off = 4\ncache_type = q8_0\n"
			    "mode = advise\nwarn = no; really\nenvironment A_1 = x,y.z:/_+=@-\n"
			    "argument --a-b = (exps|x)=CPU*\nvram_max = 12 GiB\n"
			    "vram_high = 11 GiB\n"
			    "vram_reserve = 512 MiB\nvram_protect = 2 GiB\npin = yes\n"
			    "because = caf\xc3\xa9\n"
			    "source = somebody\ndate = 2026-12-31\n"),
		0);
	assert_int_equal(l->rule_count, 1);
	assert_int_equal(l->rule[0].value_count, DAVY_POLICY_THRESHOLD); /* that is the agent's */
	for (uint32_t i = 0; i < DAVY_POLICY_THRESHOLD; i++) {
		assert_int_equal(l->rule[0].value[i].key, i);
		assert_int_equal(l->rule[0].value[i].number, numbers[i]);
		assert_int_equal(l->rule[0].value[i].line, i + 2);
	}
	assert_true(l->rule[0].pin);
	assert_string_equal(davy_policy_text(l, l->rule[0].value[DAVY_POLICY_WARN].text),
			    "no; really");
	assert_string_equal(davy_policy_text(l, l->rule[0].reason), "caf\xc3\xa9");
	assert_int_equal(
		policy_read(DAVY_LAYER_AGENT, "[rule a]\nthreshold = job_stall.level2 66 %\n"), 0);
	l = &layers.at[DAVY_LAYER_AGENT];
	assert_int_equal(l->rule[0].value[0].key, DAVY_POLICY_THRESHOLD);
	assert_int_equal(l->rule[0].value[0].number, 660);
}

static void blanks_comments_and_line_ends_do_not_matter(void **state)
{
	const struct davy_policy_layer *l = &layers.at[DAVY_LAYER_ADMIN];

	(void)state;
	davy_policy_layers_init(&layers);
	assert_int_equal(
		policy_read(DAVY_LAYER_ADMIN,
			    "\xef\xbb\xbf[ rule  one ] \t\r\n\t# note\r\n"
			    "  if \t driver=amdgpu , xe ; here\r\n\r\n"
			    "environment  A : 1\r\n   [rule two] # note\n; note\nubatch=1"),
		0);
	assert_int_equal(l->rule_count, 2);
	assert_string_equal(davy_policy_text(l, l->rule[0].condition[DAVY_IF_DRIVER].text),
			    "amdgpu , xe");
	assert_string_equal(davy_policy_text(l, l->rule[0].value[0].name), "A");
	assert_string_equal(l->rule[1].name, "two");
}

/* Layer 'p' unless the text begins with another's letter and a '|'. */
static const struct {
	const char *text;
	const char *says;
} wrong[] = {
	{ "ubatch = 1\n", "p.conf:1:1: 'ubatch' before the first rule, expected '[rule NAME]'" },
	{ "[rul x]\n", "p.conf:1:2: unknown section 'rul', expected '[rule NAME]'" },
	{ "  [gfx906]\n", "p.conf:1:4: unknown section 'gfx906'" },
	{ "[rule]\n", "p.conf:1:6: '' is no name of a rule, expected a to z" },
	{ "[rule Big]\n", "p.conf:1:7: 'Big' is no name of a rule" },
	{ "[rule a b]\n", "p.conf:1:7: 'a b' is no name of a rule" },
	{ "[rule a\n", "p.conf:1:1: '[' without ']'" },
	{ "[rule a] ubatch = 1\n", "p.conf:1:10: unexpected 'ubatch = 1' after the section name" },
	{ "[rule a]\nubatch = 1\n[rule b]\nubatch = 1\n[rule a]\n",
	  "p.conf:5:7: duplicate rule 'a'; first defined in line 1" },
	{ "[rule a]\nif driver = xe\n\n[rule b]\nubatch = 1\n",
	  "p.conf:1:1: rule 'a' sets no value; expected backends" },
	{ "[rule a]\nnonsense\n", "p.conf:2:1: syntax error; expected '[rule NAME]'" },
	{ "[rule a]\nnonsense\nubatch = x\n", "p.conf:2:1: syntax error" },
	{ "[rule a]\nubach = 1\n", "p.conf:2:1: unknown key 'ubach', expected one of if backends" },
	{ "[rule a]\nubach = 1\n", " (did you mean 'ubatch'?)" },
	{ "[rule a]\n  becuse = x\n", "p.conf:2:3: unknown key 'becuse'" },
	{ "[rule a]\nubatch x = 1\n", "p.conf:2:1: unknown key 'ubatch x'" },
	{ "[rule a]\nif drivr = x\n", "p.conf:2:4: unknown condition 'drivr', expected one of "
				      "driver device vendor" },
	{ "[rule a]\nif drivr = x\n", " (did you mean 'driver'?)" },
	{ "[rule a]\n\tif   lockup = 3 s\n", "p.conf:2:7: unknown condition 'lockup'" },
	{ "[rule a]\nif = 3 s\n", "p.conf:2:3: unknown condition ''" },
	{ "[rule a]\nif driver = xe\nif driver = i915\n",
	  "p.conf:3:1: duplicate 'if driver'; first set in line 2" },
	{ "[rule a]\nif driver =\n", "p.conf:2:12: nothing here, expected a name" },
	{ "[rule a]\nif driver = xe,\n", "p.conf:2:16: nothing here, expected a name" },
	{ "[rule a]\nif vendor = amd, intl\n",
	  "p.conf:2:18: unknown vendor 'intl', expected one of amd intel nvidia (did you mean "
	  "'intel'?)" },
	{ "[rule a]\nif kind = apu\n",
	  "p.conf:2:11: unknown kind 'apu', expected one of igpu dgpu" },
	{ "[rule a]\nif engine = olama\n", "p.conf:2:13: unknown engine 'olama', expected one of" },
	{ "[rule a]\nif engine = olama\n", " (did you mean 'ollama'?)" },
	{ "[rule a]\nif engine = ollama, x*\n", "p.conf:2:21: unknown engine 'x*'" },
	{ "[rule a]\nif generation = gen10\n", "p.conf:2:17: unknown generation 'gen10'" },
	{ "[rule a]\nif backend = vulcan\n",
	  "p.conf:2:14: unknown backend 'vulcan', expected one "
	  "of cpu vulkan rocm cuda sycl (did you mean 'vulkan'?)" },
	{ "[rule a]\nif backend = unknown\n", "p.conf:2:14: unknown backend 'unknown'" },
	{ "[rule a]\nif lockup_below = 3\n",
	  "p.conf:2:19: wrong value '3' of 'lockup_below', expected a time such as '300 ms'" },
	{ "[rule a]\nif lockup_below = 25 h\n", "p.conf:2:19: '25 h' of 'lockup_below' is out of "
						"range, expected 1 ms to 24 h" },
	{ "[rule a]\nif compute_units_below = 0\n", "expected 1 to 65536" },
	{ "[rule a]\nif compute_units_below = few\n", "expected a whole number without a unit" },
	{ "[rule a]\nbackends = vulkan, rcom\n",
	  "p.conf:2:20: unknown backend 'rcom', expected one of cpu vulkan rocm cuda sycl (did you "
	  "mean 'rocm'?)" },
	{ "[rule a]\nbackends = vulkan cpu\n", "p.conf:2:12: unknown backend 'vulkan cpu'" },
	{ "[rule a]\nbackends = cpu, vulkan,  cpu\n", "p.conf:2:26: duplicate 'cpu'" },
	{ "[rule a]\nbackends =\n", "p.conf:2:11: 'backends' has no value" },
	{ "[rule a]\nbackends = cpu,,vulkan\n", "p.conf:2:16: nothing here, expected a backend" },
	{ "[rule a]\nubatch = 12 MiB\n", "p.conf:2:10: wrong value '12 MiB' of 'ubatch'" },
	{ "[rule a]\nubatch = -1\n", "p.conf:2:10: wrong value '-1'" },
	{ "[rule a]\nubatch = 99999999999999999999\n", "expected 0 to 1048576" },
	{ "[rule a]\nparallel = 5000\n", "expected 0 to 4096" },
	{ "[rule a]\nubatch = 1\nubatch = 2\n", "p.conf:3:1: duplicate 'ubatch'" },
	{ "[rule a]\nenvironment A = 1\nenvironment A = 2\n",
	  "p.conf:3:1: duplicate 'environment A'; first set in line 2" },
	{ "[rule a]\ncache_type = q5_1\n",
	  "p.conf:2:14: unknown cache type 'q5_1', expected one of any f16 q8_0 q4_0 (did" },
	{ "[rule a]\nmode = bold\n", "p.conf:2:8: unknown mode 'bold', expected one of observe "
				     "advise enforce" },
	{ "[rule a]\nenvironment = 1\n", "p.conf:2:12: '' is no name of a variable" },
	{ "[rule a]\nenvironment 1A = 1\n", "p.conf:2:13: '1A' is no name of a variable" },
	{ "[rule a]\nenvironment A-B = 1\n", "p.conf:2:14: 'A-B' is no name of a variable" },
	{ "[rule a]\nenvironment A B = 1\n", "p.conf:2:14: 'A B' is no name of a variable" },
	{ "[rule a]\nenvironment A = x y\n",
	  "p.conf:2:18: a ' ' in the value of 'environment', expected letters, digits and "
	  ",.:/_+=@-" },
	{ "[rule a]\nenvironment A = \"x\"\n", "p.conf:2:17: a '\"' in the value" },
	{ "[rule a]\nenvironment A = $B\n", "p.conf:2:17: a '$' in the value" },
	{ "[rule a]\nenvironment A = 5%\n", "p.conf:2:18: a '%' in the value" },
	{ "[rule a]\nargument fa = on\n", "p.conf:2:10: 'fa' is no name of an option" },
	{ "[rule a]\nargument -fa = on off\n", "p.conf:2:18: a ' ' in the value of 'argument'" },
	{ "[rule a]\nubatch = 1\npin = maybe\n", "p.conf:3:7: wrong value 'maybe' of 'pin', "
						 "expected yes or no" },
	{ "[rule a]\npin = yes\npin = yes\n", "p.conf:3:1: duplicate 'pin'" },
	{ "a|[rule a]\nubatch = 1\npin = yes\n",
	  "a.conf:3:1: 'pin' in the agent layer, expected it in the administrator's" },
	{ "[rule a]\nthreshold = job_stall.level2 60 %\n",
	  "p.conf:2:1: 'threshold' is the agent's, expected the value in hazards.conf" },
	{ "a|[rule a]\nthreshold = job_stall.levle2 60 %\n",
	  "a.conf:2:13: 'job_stall.levle2 60 %' is no threshold, expected a key of a hazard" },
	{ "a|[rule a]\nthreshold = job_stall.level2\n", "is no threshold" },
	{ "a|[rule a]\nthreshold = agent.clear 10 s\n", "is no threshold" },
	{ "a|[rule a]\nthreshold = job_stall.level2 101 %\n",
	  "'101 %' of 'job_stall.level2' is out of range, expected 1 % to 100 %" },
	{ "s|[rule a]\npin = yes\n", "s.conf:2:1: 'pin' in the shipped layer" },
	{ "s|[rule a]\nubatch = 1\nsource = x\ndate = 2026-01-01\n",
	  "s.conf:1:1: rule 'a' has no 'because'; shipped rules need 'because', 'source' and "
	  "'date'" },
	{ "s|\n[rule a]\nubatch = 1\nbecause = x\nsource = x\n",
	  "s.conf:2:1: rule 'a' has no 'date'" },
	{ "[rule a]\ndate = 2026-1-1\n",
	  "p.conf:2:14: wrong date '2026-1-1', expected YYYY-MM-DD" },
	{ "[rule a]\ndate = 2026-13-01\n", "p.conf:2:13: month 13 of '2026-13-01'" },
	{ "[rule a]\ndate = 2026-12-00\n", "p.conf:2:16: day 00 of" },
	{ "[rule a]\ndate = 2026-12-011\n", "p.conf:2:18: wrong date" },
	{ "[rule a]\nbecause =\n", "p.conf:2:10: 'because' has no text" },
	{ "[rule a]\nbecause = x\nbecause = y\n", "p.conf:3:1: duplicate 'because'" },
	{ "[rule a]\nbecause = a\xff\n", "p.conf:2:12: a byte in 'because' that cannot be shown" },
	{ "[rule a]\nif model = \x1b[31m\n",
	  "p.conf:2:12: a byte in 'model' that cannot be shown" },
	{ "[rule a]\nif backend = rocm\nbackends = cpu\n",
	  "p.conf:3:1: 'backends' is not allowed in a rule with 'if backend'" },
	{ "[rule a]\nbackends = cpu\nif lockup_below = 3 s\n",
	  "p.conf:2:1: 'backends' is not allowed in a rule with 'if lockup_below'" },
};

static void a_wrong_line_names_its_column_and_rejects_the_file(void **state)
{
	static struct davy_policy_layers before;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *text = wrong[i].text;
		enum davy_layer kind = DAVY_LAYER_ADMIN;

		policy_texts(NULL, "[rule kept]\nubatch = 7\n", NULL);
		memcpy(&before, &layers, sizeof(before));
		if (text[1] == '|') {
			kind = text[0] == 's' ? DAVY_LAYER_SHIPPED : DAVY_LAYER_AGENT;
			text += 2;
		}
		assert_int_equal(policy_read(kind, text), -EBADMSG);
		if (!strstr(error, wrong[i].says))
			fail_msg("'%s' does not say '%s'", error, wrong[i].says);
		assert_memory_equal(&layers, &before, sizeof(before));
	}
}

static void text_that_would_be_truncated_or_skipped_is_an_error(void **state)
{
	static const char zero[] = "[rule a]\nubatch = 1\n\0ubatch = 2\n";
	static char text[80 * 1024];
	size_t used;

	(void)state;
	davy_policy_layers_init(&layers);
	snprintf(text, sizeof(text), "[rule a]\n# %0196d\nubatch = 1\n", 0);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), 0);
	snprintf(text, sizeof(text), "[rule a]\n# %0197d\nubatch = 1\n", 0);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), -EBADMSG);
	assert_non_null(strstr(error, "p.conf:2:199: a line of 199 bytes, expected at most 198"));
	snprintf(text, sizeof(text), "[rule a]\nbecause = %0176d\n", 0);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), -EBADMSG);
	assert_non_null(strstr(error, ":2:186: 'because' of 176 bytes, expected at most 175"));
	assert_int_equal(davy_policy_text_read(zero, sizeof(zero) - 1, "z.conf", DAVY_LAYER_ADMIN,
					       &layers.at[DAVY_LAYER_ADMIN], error),
			 -EBADMSG);
	assert_non_null(strstr(error, "z.conf:3:1: NUL byte"));
	used = 0;
	for (int i = 0; i <= DAVY_RULES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[rule r%d]\nubatch = 1\n", i);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), -EBADMSG);
	assert_non_null(strstr(error, ":513:7: too many rules (at most 256)"));
	used = (size_t)snprintf(text, sizeof(text), "[rule a]\n");
	for (int i = 0; i <= DAVY_RULE_VALUES_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "environment A%d = 1\n",
					 i);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), -EBADMSG);
	assert_non_null(strstr(error, ":18:1: too many values in a rule (at most 16)"));
}

/* One that lies in a database has no 0 behind it. */
static void a_text_ends_at_its_length(void **state)
{
	static const char text[] = "[rule a]\nubatch = 12";
	char *cut = malloc(sizeof(text) - 2);

	(void)state;
	assert_non_null(cut);
	memcpy(cut, text, sizeof(text) - 2);
	davy_policy_layers_init(&layers);
	assert_int_equal(davy_policy_text_read(cut, sizeof(text) - 2, "c.conf", DAVY_LAYER_AGENT,
					       &layers.at[DAVY_LAYER_AGENT], error),
			 0);
	assert_int_equal(layers.at[DAVY_LAYER_AGENT].rule[0].value[0].number, 1);
	free(cut);
}

static void a_hostile_word_is_made_safe_to_show(void **state)
{
	(void)state;
	davy_policy_layers_init(&layers);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, "[\x1b[31m]\n"), -EBADMSG);
	assert_null(strchr(error, '\x1b'));
	assert_non_null(strstr(error, "unknown section '\\x1b[31m'"));
}

static const char written[] =
	"\n[rule gfx906-rocm]\nif driver = amdgpu\nif gfx = gfx906, gfx900\nif engine = ollama, "
	"llama-server\nif model = a b*, C\nif compute_units_below = 24\nif context_above = 65536\n"
	"backends = vulkan, cpu\nbecause = the runner dies; always\nsource = ollama#12915\n"
	"date = 2026-02-15\n"
	"\n[rule vulkan]\nif backend = vulkan\nif lockup_below = 3 s\nargument --no-mmap =\n"
	"environment A = 1\nenvironment B =\nubatch = 128\nmode = observe\ncache_type = f16\n"
	"warn = no\nargument -fa = auto\ncontext = 4096\nparallel = 1\ngpu_layers_off = 2\n"
	"ubatch_floor = 0\nvram_max = 1536 MiB\nvram_high = 1 GiB\nvram_reserve = 1 GiB\n"
	"vram_protect = 4 GiB\n"
	"pin = yes\n";

static void written_rules_read_back_and_write_identically(void **state)
{
	char *text, *again;
	size_t size, size_again;

	(void)state;
	policy_texts(NULL, written, NULL);
	assert_int_equal(davy_policy_text_write(&layers.at[DAVY_LAYER_ADMIN], &text, &size, error),
			 0);
	assert_string_equal(text, written);
	assert_int_equal(size, sizeof(written) - 1);
	assert_int_equal(policy_read(DAVY_LAYER_ADMIN, text), 0);
	assert_int_equal(
		davy_policy_text_write(&layers.at[DAVY_LAYER_ADMIN], &again, &size_again, error),
		0);
	assert_int_equal(size, size_again);
	assert_memory_equal(text, again, size);
	free(text);
	free(again);
}

static void every_rule_that_is_shipped_survives_being_written(void **state)
{
	char *text;
	size_t size;

	(void)state;
	davy_policy_layers_init(&layers);
	assert_int_equal(davy_policy_file_read("policies/backend.conf", DAVY_LAYER_SHIPPED,
					       &layers.at[DAVY_LAYER_SHIPPED], error),
			 0);
	assert_int_equal(
		davy_policy_text_write(&layers.at[DAVY_LAYER_SHIPPED], &text, &size, error), 0);
	free(text);
}

/* Texts of a rule's that a file cannot hold as they are. */
static void rules_that_cannot_be_read_back_are_not_written(void **state)
{
	static const char *const models[] = { "a ;b", " a", "a ", "a\nubatch = 7", "a\x1b", "" };
	struct davy_policy_layer *agent = &layers.at[DAVY_LAYER_AGENT];
	struct davy_rule *rule;
	char *text;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		policy_texts(NULL, NULL, NULL);
		rule = davy_policy_rule_add(agent, "a");
		assert_int_equal(davy_rule_set_count(agent, rule, DAVY_POLICY_UBATCH, 64), 0);
		assert_int_equal(davy_rule_if(agent, rule, DAVY_IF_MODEL, models[i], 0), 0);
		if (davy_policy_text_write(agent, &text, &size, error) != -EINVAL)
			fail_msg("'%s' was written", models[i]);
		assert_true(error[0]);
	}
	policy_texts(NULL, NULL, NULL);
	rule = davy_policy_rule_add(agent, "a");
	assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_UBATCH, NULL, "64", 63), 0);
	assert_int_equal(davy_policy_text_write(agent, &text, &size, error), -EINVAL);
	assert_string_equal(error, "rule 'a' would be different when read again");
	policy_texts(NULL, NULL, NULL);
	assert_non_null(davy_policy_rule_add(agent, "empty"));
	assert_int_equal(davy_policy_text_write(agent, &text, &size, error), -EINVAL);
	assert_non_null(strstr(error, "rule 'empty' sets no value"));
}

static void whatever_a_model_is_called_and_the_reason_is_a_rule_can_be_written(void **state)
{
	struct davy_policy_layer *agent = &layers.at[DAVY_LAYER_AGENT];
	struct davy_policy_subject s = { .model = "a, b ;c\\x1b*.gguf" };
	char pattern[DAVY_MODEL_LEN], reason[400], *text;
	struct davy_effective e;
	struct davy_rule *rule;
	size_t size;

	(void)state;
	policy_texts(NULL, NULL, NULL);
	rule = davy_policy_rule_add(agent, "a");
	davy_rule_literal(pattern, sizeof(pattern), s.model);
	assert_int_equal(davy_rule_if(agent, rule, DAVY_IF_MODEL, pattern, 0), 0);
	assert_int_equal(davy_rule_set_count(agent, rule, DAVY_POLICY_UBATCH, 64), 0);
	snprintf(reason, sizeof(reason), "it died ;%0165d\xc3\xa9 twice", 0);
	assert_int_equal(davy_rule_say(agent, rule, reason, "seen here", "2026-11-21"), 0);
	assert_int_equal(davy_policy_text_write(agent, &text, &size, error), 0);
	assert_int_equal(policy_read(DAVY_LAYER_AGENT, text), 0);
	e = policy_of(&s);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 64);
	free(text);
}

static void three_folders_make_three_layers(void **state)
{
	char data[80], mine[80], people[80];
	struct davy_policy_subject nobody = { .model = "" };
	struct davy_effective e;

	(void)state;
	snprintf(data, sizeof(data), "%s/shipped", dir);
	snprintf(people, sizeof(people), "%s/administrator", dir);
	snprintf(mine, sizeof(mine), "%s/agent", dir);
	davy_policy_layers_init(&layers);
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), 0);
	assert_string_equal(error, "");
	assert_int_equal(layers.at[DAVY_LAYER_AGENT].rule_count, 0);
	put_file(DAVY_LAYER_SHIPPED,
		 "[rule s]\nubatch = 1\nparallel = 1\ncontext = 1\nbecause = x\n"
		 "source = x\ndate = 2026-01-01\n");
	put_file(DAVY_LAYER_ADMIN, "[rule p]\nubatch = 2\nparallel = 2\npin = yes\n");
	put_file(DAVY_LAYER_AGENT, "[rule a]\nubatch = 3\ncontext = 3\n");
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), 0);
	e = policy_of(&nobody);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 2);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_PARALLEL), 2);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_CONTEXT), 3);
	assert_string_equal(e.value[DAVY_POLICY_UBATCH].origin.layer->path,
			    path_of(DAVY_LAYER_ADMIN, DAVY_POLICY_NAME));

	/* The fleet's is in a folder of the state directory; a wrong one is left as it was. */
	davy_make_dir(path_of(DAVY_LAYER_AGENT, DAVY_FLEET_NAME));
	put_at(path_of(DAVY_LAYER_AGENT, DAVY_FLEET_NAME "/" DAVY_POLICY_NAME),
	       "[rule f]\nwarn = from other hosts\n");
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), 0);
	assert_int_equal(layers.at[DAVY_LAYER_FLEET].rule_count, 1);
	put_at(path_of(DAVY_LAYER_AGENT, DAVY_FLEET_NAME "/" DAVY_POLICY_NAME),
	       "[rule f]\ncontext = 1\n");
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), 0);
	assert_non_null(strstr(error, "/agent/fleet/backend.conf:2:1: 'context' in the fleet's"));
	assert_int_equal(layers.at[DAVY_LAYER_FLEET].rule_count, 1);
	unlink(path_of(DAVY_LAYER_AGENT, DAVY_FLEET_NAME "/" DAVY_POLICY_NAME));
	rmdir(path_of(DAVY_LAYER_AGENT, DAVY_FLEET_NAME));

	/* The agent's own is left as it was; with another's wrong file nothing changes at all. */
	put_file(DAVY_LAYER_AGENT, "[rule a]\nubatch = x\n");
	put_file(DAVY_LAYER_ADMIN, "[rule p]\nubatch = 4\n");
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), 0);
	assert_non_null(strstr(error, "/agent/backend.conf:2:10: wrong value 'x'"));
	e = policy_of(&nobody);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 3);
	put_file(DAVY_LAYER_ADMIN, "[rule p]\nubatch = 5\nubatch = 6\n");
	assert_int_equal(davy_policy_dirs_read(data, mine, people, &layers, error), -EBADMSG);
	assert_non_null(strstr(error, "/administrator/backend.conf:3:1: duplicate 'ubatch'"));
	assert_int_equal(layers.at[DAVY_LAYER_ADMIN].rule[0].value[0].number, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(blanks_comments_and_line_ends_do_not_matter),
		cmocka_unit_test(a_wrong_line_names_its_column_and_rejects_the_file),
		cmocka_unit_test(text_that_would_be_truncated_or_skipped_is_an_error),
		cmocka_unit_test(a_text_ends_at_its_length),
		cmocka_unit_test(a_hostile_word_is_made_safe_to_show),
		cmocka_unit_test(written_rules_read_back_and_write_identically),
		cmocka_unit_test(every_rule_that_is_shipped_survives_being_written),
		cmocka_unit_test(rules_that_cannot_be_read_back_are_not_written),
		cmocka_unit_test(
			whatever_a_model_is_called_and_the_reason_is_a_rule_can_be_written),
		cmocka_unit_test(three_folders_make_three_layers),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
