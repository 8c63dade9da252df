/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep_submit.c - handing the cells of a sweep to an engine: this host, GNU parallel, Slurm.
 *
 * DIR/job.sh is the whole interface: readable, and runnable by hand. What stands behind "--" on
 * the command line goes to the engine unchanged.
 */
#include "tools/sweep.h"
#include "tools/tools.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A task should hold some minutes of work; clusters ask for few starts. */
#define CELLS_PER_CHUNK 64u
/* Slurm's own default of MaxArraySize, when it cannot be asked. */
#define SLURM_ARRAY_DEFAULT 1001u

bool sweep_parse_executor(const char *text, enum sweep_executor *ret, GError **error)
{
	static const char *const names[] = { "local", "parallel", "slurm" };

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (!text || !strcmp(text, names[i])) {
			*ret = (enum sweep_executor)i;
			return true;
		}
	}
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--executor %s: local, parallel or slurm",
		    text);
	return false;
}

static char *own_program(void)
{
	char *path = g_file_read_link("/proc/self/exe", NULL);

	return path ? path : g_strdup("reclaimsim");
}

static char *quoted_words(char *const *words)
{
	GString *text = g_string_new(NULL);

	for (; words && *words; words++) {
		char *quoted = g_shell_quote(*words);

		g_string_append_printf(text, " %s", quoted);
		g_free(quoted);
	}
	return g_string_free(text, FALSE);
}

/* Standard output of a command; NULL with an error if it cannot be run or fails. */
static char *output_of(char **argv, GError **error)
{
	char *out = NULL, *err = NULL;
	GError *problem = NULL;
	int status = 0;

	if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status,
			  &problem)) {
		g_set_error(error, RS_ERROR, RS_ERROR_STALLED, "%s: %s", argv[0], problem->message);
		g_error_free(problem);
	} else if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		g_strdelimit(g_strchomp(err), "\n", ' ');
		g_set_error(error, RS_ERROR, RS_ERROR_STALLED, "%s failed: %s", argv[0], err);
		g_clear_pointer(&out, g_free);
	}
	g_free(err);
	return out;
}

/* "MaxArraySize            = 1001": indices are below it. */
static uint64_t slurm_array_limit(void)
{
	char *argv[] = { (char *)"scontrol", (char *)"show", (char *)"config", NULL };
	char *text = output_of(argv, NULL);
	char *line = text ? strstr(text, "MaxArraySize") : NULL;
	char *equals = line ? strchr(line, '=') : NULL;
	uint64_t limit = equals ? g_ascii_strtoull(g_strchug(equals + 1), NULL, 10) : 0;

	g_free(text);
	return limit > 1 ? limit - 1 : SLURM_ARRAY_DEFAULT - 1;
}

static uint64_t choose_chunks(const struct sweep_plan *plan,
			      const struct sweep_submission *submission)
{
	uint64_t chunks = submission->chunks, limit = plan->nr_cells;

	if (submission->executor == SWEEP_SLURM && !submission->dry_run)
		limit = MIN(limit, slurm_array_limit());
	if (!chunks) {
		unsigned slots = submission->jobs ? submission->jobs : g_get_num_processors();

		/* Enough to keep every slot busy, few enough to be polite. */
		chunks = MAX((plan->nr_cells + CELLS_PER_CHUNK - 1) / CELLS_PER_CHUNK, 4 * slots);
	}
	return CLAMP(chunks, 1, limit);
}

static char *slurm_script(const struct sweep_plan *plan, const char *dir, const char *program,
			  const struct sweep_submission *submission, uint64_t chunks)
{
	char *throttle =
		submission->jobs ? g_strdup_printf("%%%u", submission->jobs) : g_strdup("");
	char *safe = g_strcanon(g_strdup(plan->name), G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.",
				'_');
	char *text = g_strdup_printf(
		"#!/bin/sh\n"
		"#SBATCH --job-name=%s\n"
		"#SBATCH --array=0-%" PRIu64 "%s\n"
		"#SBATCH --requeue\n"
		"#SBATCH --ntasks=1\n"
		"#SBATCH --cpus-per-task=1\n"
		"#SBATCH --output=%s/log/%%A_%%a.out\n"
		"# Each task runs its share of the cells; finished ones are left alone.\n"
		"exec %s sweep exec %s --jobs 1 --quiet \\\n"
		"\t--chunk \"$SLURM_ARRAY_TASK_ID\"/%" PRIu64 "\n",
		safe, chunks - 1, throttle, dir, program, dir, chunks);

	g_free(safe);
	g_free(throttle);
	return text;
}

static char *parallel_script(const char *dir, const char *program,
			     const struct sweep_submission *submission, uint64_t chunks)
{
	unsigned slots = submission->jobs ? submission->jobs : g_get_num_processors();
	char *options = quoted_words(submission->engine_options);
	char *text = g_strdup_printf(
		"#!/bin/sh\n"
		"# Each job runs its share of the cells; finished ones are left alone.\n"
		"seq 0 %" PRIu64 " | parallel --no-notice -j%u --joblog %s/joblog%s \\\n"
		"\t%s sweep exec %s --jobs 1 --quiet --chunk {}/%" PRIu64 "\n",
		chunks - 1, slots, dir, options, program, dir, chunks);

	g_free(options);
	return text;
}

static bool write_script(const char *dir, const char *text, char **ret_path, GError **error)
{
	char *path = g_build_filename(dir, "job.sh", NULL),
	     *log = g_build_filename(dir, "log", NULL);
	bool ok = output_write(path, text, error);

	g_mkdir_with_parents(log, 0777);
	g_chmod(path, 0755);
	g_free(log);
	*ret_path = path;
	return ok;
}

/* Poll: "sbatch --wait" looks at ever longer intervals. */
static void slurm_wait(const char *id)
{
	char *argv[] = { (char *)"squeue", (char *)"-h", (char *)"-j", (char *)id, NULL };
	unsigned failures = 0;

	for (;;) {
		GError *error = NULL;
		char *text = output_of(argv, &error);
		bool gone = text && !*g_strstrip(text);

		/* "Invalid job id" once it is forgotten; anything else may pass. */
		if (error)
			failures++;
		else
			failures = 0;
		gone = gone ||
		       (error && (strstr(error->message, "Invalid job id") || failures > 30));
		g_clear_error(&error);
		g_free(text);
		if (gone)
			return;
		g_usleep(300000);
	}
}

static bool slurm_submit(const char *path, const struct sweep_submission *submission,
			 GError **error)
{
	GPtrArray *argv = g_ptr_array_new();
	char **options = submission->engine_options;
	char *id;

	g_ptr_array_add(argv, (char *)"sbatch");
	g_ptr_array_add(argv, (char *)"--parsable");
	for (; options && *options; options++)
		g_ptr_array_add(argv, *options);
	g_ptr_array_add(argv, (char *)path);
	g_ptr_array_add(argv, NULL);
	id = output_of((char **)argv->pdata, error);
	g_ptr_array_unref(argv);
	if (!id)
		return false;
	/* "ID" or "ID;CLUSTER" */
	id[strcspn(id, ";\n")] = '\0';
	if (!submission->quiet)
		fprintf(stderr, "%s: Slurm job %s\n", command_name(), id);
	if (!submission->detach)
		slurm_wait(id);
	g_free(id);
	return true;
}

static bool run_script(const char *path, const struct sweep_submission *submission, GError **error)
{
	char *argv[] = { (char *)"/bin/sh", (char *)path, NULL };
	g_autofree char *found = g_find_program_in_path("parallel");
	GError *problem = NULL;
	bool ok;

	if (!found) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "GNU parallel is not installed (Debian package \"parallel\")");
		return false;
	}
	if (submission->detach)
		ok = g_spawn_async(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
				   &problem);
	else /* its exit code is the number of failed jobs: status tells more */
		ok = g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
				  NULL, NULL, &problem);
	if (!ok) {
		g_set_error(error, RS_ERROR, RS_ERROR_STALLED, "%s: %s", path, problem->message);
		g_error_free(problem);
	}
	return ok;
}

static bool submit_script(const struct sweep_plan *plan, const char *dir,
			  const struct sweep_submission *submission, GError **error)
{
	char *full = g_canonicalize_filename(dir, NULL), *quoted = g_shell_quote(full);
	char *own = own_program(), *program = g_shell_quote(own);
	uint64_t chunks = choose_chunks(plan, submission);
	bool slurm = submission->executor == SWEEP_SLURM;
	char *text = slurm ? slurm_script(plan, full, program, submission, chunks)
			   : parallel_script(quoted, program, submission, chunks);
	char *path = NULL;
	bool ok = true;

	/* #SBATCH lines take no quotes, and % has a meaning there. */
	if (slurm && strpbrk(full, " \t\n'\"\\%$`")) {
		g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
			    "%s: Slurm wants a folder without blanks, quotes and %%", full);
		ok = false;
	} else if (submission->dry_run)
		fputs(text, stdout);
	else
		ok = write_script(full, text, &path, error) &&
		     (slurm ? slurm_submit(path, submission, error)
			    : run_script(path, submission, error));
	g_free(path);
	g_free(text);
	g_free(program);
	g_free(own);
	g_free(quoted);
	g_free(full);
	return ok;
}

bool sweep_submit(const struct sweep_plan *plan, const char *dir,
		  const struct sweep_submission *submission, GError **error)
{
	uint64_t done, failed;

	if (submission->executor != SWEEP_LOCAL)
		return submit_script(plan, dir, submission, error);
	if (submission->dry_run) {
		printf("%" PRIu64 " cells on this host, %u at once\n", plan->nr_cells,
		       submission->jobs ? submission->jobs : g_get_num_processors());
		return true;
	}
	return sweep_exec(plan, dir, 0, 1, submission->jobs, !submission->quiet, &done, &failed,
			  error);
}
