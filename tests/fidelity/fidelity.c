/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fidelity.c - the simulator's counters beside those of real kernels.
 *
 * Exit codes: 0 the rule is met, 1 it is not, 2 bad usage or bad input.
 */
#include "keep.h"
#include "markdown.h"
#include "mutation.h"
#include "phases.h"
#include "print.h"
#include "simulate.h"

#include <locale.h>
#include <string.h>

static struct {
	char *binary, *data, *machine, *rule, *table, *check_table, *causes, *save, *from,
		*mutations;
	char **variants, **settings;
	char *trace, *kernel, *lru;
	gint show, phases, boots, jobs, timeout;
} opt = { .show = 30, .jobs = 2, .timeout = 60 };

static const GOptionEntry entries[] = {
	{ "binary", 0, 0, G_OPTION_ARG_FILENAME, &opt.binary, "the simulator", "FILE" },
	{ "data", 0, 0, G_OPTION_ARG_FILENAME, &opt.data, "folder with traces/ and results/",
	  "DIR" },
	{ "machine", 0, 0, G_OPTION_ARG_FILENAME, &opt.machine, "machine file for every run",
	  "FILE" },
	{ "rule", 0, 0, G_OPTION_ARG_STRING, &opt.rule,
	  "main (default), strict, variant, own or patch", "RULE" },
	{ "variant", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.variants,
	  "base (default), global, zram, mglru1, ...; \"all\"; may be repeated", "V" },
	{ "trace", 0, 0, G_OPTION_ARG_STRING, &opt.trace, "only these traces", "GLOB" },
	{ "kernel", 0, 0, G_OPTION_ARG_STRING, &opt.kernel, "only these kernels", "GLOB" },
	{ "lru", 0, 0, G_OPTION_ARG_STRING, &opt.lru, "only these: classic, mglru, mglru1",
	  "GLOB" },
	{ "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.settings, "setting for every run",
	  "KEY=VALUE" },
	{ "show", 0, 0, G_OPTION_ARG_INT, &opt.show, "rows to print, worst first", "N" },
	{ "phases", 0, 0, G_OPTION_ARG_INT, &opt.phases,
	  "compare spreads instead, over N boots: flush phase, speed, address layout", "N" },
	{ "boots", 0, 0, G_OPTION_ARG_INT, &opt.boots,
	  "judge the mean over N boots: flush phase, address layout", "N" },
	{ "table", 0, 0, G_OPTION_ARG_FILENAME, &opt.table, "write the Markdown table", "FILE" },
	{ "check-table", 0, 0, G_OPTION_ARG_FILENAME, &opt.check_table,
	  "compare that table with this one", "FILE" },
	{ "mutations", 0, 0, G_OPTION_ARG_FILENAME, &opt.mutations,
	  "check instead that the loss of each mechanism would be noticed", "FILE" },
	{ "causes", 0, 0, G_OPTION_ARG_FILENAME, &opt.causes, "causes of what is off", "FILE" },
	{ "save", 0, 0, G_OPTION_ARG_FILENAME, &opt.save, "keep the simulator's values", "FILE" },
	{ "from", 0, 0, G_OPTION_ARG_FILENAME, &opt.from, "take kept values instead of running",
	  "FILE" },
	{ "jobs", 'j', 0, G_OPTION_ARG_INT, &opt.jobs, "simulations at once", "N" },
	{ "timeout", 0, 0, G_OPTION_ARG_INT, &opt.timeout, "seconds a simulation may take", "N" },
	{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
};

static bool parse(int *argc, char ***argv, GError **error)
{
	GOptionContext *context = g_option_context_new("- compare with real kernels");
	bool ok;

	g_option_context_add_main_entries(context, entries, NULL);
	ok = g_option_context_parse(context, argc, argv, error);
	g_option_context_free(context);
	if (!opt.data)
		opt.data = g_strdup(FIDELITY_DIR "/truth");
	if (!opt.machine)
		opt.machine = g_strdup(FIDELITY_DIR "/guest.json");
	if (!opt.causes)
		opt.causes = g_strdup(FIDELITY_DIR "/causes.json");
	if (!opt.rule)
		opt.rule = g_strdup("main");
	if (!opt.variants)
		opt.variants = g_strsplit("base", ",", 0);
	if (ok && !rule_find(opt.rule))
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "no rule '%s'; there are %s", opt.rule, rule_names());
	else if (ok && !opt.binary && !opt.from)
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "give --binary or --from");
	else if (ok && (opt.jobs < 1 || opt.timeout < 1 || opt.show < 0 || opt.phases < 0 ||
			opt.boots < 0))
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--jobs and --timeout start at 1, --show, --phases and --boots at 0");
	else
		return ok;
	return false;
}

static GPtrArray *read_cases(GError **error)
{
	bool all = g_strv_contains((const char *const *)opt.variants, "all");
	struct truth_filter filter = {
		.variants = all ? NULL : opt.variants,
		.trace = opt.trace,
		.kernel = opt.kernel,
		.lru = opt.lru,
	};
	GPtrArray *cases = truth_read(opt.data, &filter, error);

	if (cases && !cases->len) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: no result passes --variant, --trace, --kernel and --lru",
			    opt.data);
		g_clear_pointer(&cases, g_ptr_array_unref);
	}
	return cases;
}

static struct simulate_options simulate_options(void)
{
	return (struct simulate_options){ opt.binary,	opt.data,	    opt.machine,
					  opt.settings, (unsigned)opt.jobs, (unsigned)opt.timeout };
}

static bool get_results(GPtrArray *cases, GError **error)
{
	struct simulate_options options = simulate_options();

	if (opt.phases)
		return simulate_phases(cases, &options, (unsigned)opt.phases, error);
	if (opt.from)
		return keep_read(cases, opt.from, error);
	if (!(opt.boots ? simulate_boots(cases, &options, (unsigned)opt.boots, error)
			: simulate_all(cases, &options, error)))
		return false;
	return !opt.save || keep_write(cases, opt.save, error);
}

/* A case without result fails every check: nothing may go unseen. */
static bool all_have_results(const GPtrArray *cases)
{
	for (guint i = 0; i < cases->len; i++) {
		if (!((const struct truth_case *)cases->pdata[i])->sim)
			return false;
	}
	return true;
}

static int judge(const GPtrArray *cases)
{
	const struct rule *rule = rule_find(opt.rule);
	GArray *rows = compare_rows(cases, rule);
	GArray *differences = compare_differences(cases, rule);
	GArray *all = verdict_of(rows, rule, false), *end = verdict_of(rows, rule, true);
	bool ok = all_have_results(cases) && verdict_enough(all) &&
		  differences_enough(differences, rule);

	print_rows(rows, (guint)opt.show, stdout);
	print_differences(differences, rule, (guint)opt.show, stdout);
	if (rule->marks)
		print_verdict("At the end of the traces", end, stdout);
	print_verdict(rule->marks ? "At every mark and the end" : "Verdict", all, stdout);
	verdict_free(all);
	verdict_free(end);
	g_array_unref(rows);
	g_array_unref(differences);
	return ok ? 0 : 1;
}

/* First line that differs, so that a failing test says more than "differs". */
static void print_first_difference(const char *path, const char *committed, const char *now)
{
	g_auto(GStrv) old_lines = g_strsplit(committed, "\n", 0),
		      new_lines = g_strsplit(now, "\n", 0);
	guint i = 0;

	while (old_lines[i] && new_lines[i] && !strcmp(old_lines[i], new_lines[i]))
		i++;
	fprintf(stderr,
		"%s:%u: the committed table is not what the program prints now\n- %s\n+ %s\n", path,
		i + 1, old_lines[i] ? old_lines[i] : "", new_lines[i] ? new_lines[i] : "");
	fprintf(stderr, "renew it with: ninja fidelity-table\n");
}

static int put_table(const GPtrArray *cases, GError **error)
{
	struct causes *causes = causes_read(opt.causes, error);
	g_autofree char *committed = NULL;
	g_autofree char *text = NULL;
	int status = 2;

	if (!causes)
		return 2;
	text = markdown_of(cases, causes);
	causes_free(causes);
	if (opt.table)
		return g_file_set_contents(opt.table, text, -1, error) ? 0 : 2;
	if (!g_file_get_contents(opt.check_table, &committed, NULL, error))
		return 2;
	status = strcmp(committed, text) ? 1 : 0;
	if (status)
		print_first_difference(opt.check_table, committed, text);
	return status;
}

static int check_mutations(GError **error)
{
	struct simulate_options options = simulate_options();
	bool ok = mutation_check(opt.mutations, &options, stdout, error);

	return ok ? 0 : *error ? 2 : 1;
}

static int work(GPtrArray *cases, GError **error)
{
	if (!get_results(cases, error))
		return 2;
	if (opt.phases)
		return phases_print(cases, (guint)opt.show, stdout) >= 90 ? 0 : 1;
	print_failures(cases, stderr);
	if (opt.table || opt.check_table)
		return all_have_results(cases) ? put_table(cases, error) : 1;
	if (opt.save)
		return all_have_results(cases) ? 0 : 1;
	return judge(cases);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) cases = NULL;
	int status = 2;

	setlocale(LC_ALL, "C");
	if (!parse(&argc, &argv, &error))
		status = 2;
	else if (opt.mutations)
		status = check_mutations(&error);
	else if ((cases = read_cases(&error)))
		status = work(cases, &error);
	if (error)
		fprintf(stderr, "fidelity: %s\n", error->message);
	return status;
}
