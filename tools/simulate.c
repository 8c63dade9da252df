/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.c - one run, and many runs in child processes.
 */
#include "tools/simulate.h"
#include "sim/base/config.h"
#include "sim/base/units.h"
#include "tools/observe.h"
#include "tools/timeline.h"
#include "tools/tools.h"

#include <reclaimsim/generate.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool run_policy(const char *path, const struct rs_scenario *scenario, const char *policy,
		       struct observing *observing, struct timeline_file *timeline,
		       struct rs_result **ret, GError **error)
{
	struct rs_sim *sim = rs_sim_new(scenario, policy, error);
	struct rs_trace *trace = sim ? rs_trace_open(path, error) : NULL;
	bool ok;

	if (trace && observing)
		observing_start(observing, sim);
	if (trace && timeline)
		timeline_file_start(timeline, sim);
	ok = trace && rs_sim_run(sim, trace, ret, error);
	rs_trace_free(trace);
	rs_sim_free(sim);
	return ok;
}

bool simulate_is_spec(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : NULL;
	int c = ' ';

	while (file && g_ascii_isspace(c))
		c = fgetc(file);
	if (file)
		fclose(file);
	return c == '{';
}

char *simulate_generate(const char *spec, const struct rs_scenario *scenario, GError **error)
{
	struct rs_generate_options options = { .path = spec,
					       .seed_given = true,
					       .seed = rs_scenario_config(scenario)->seed };
	char *path = g_strdup_printf("%s/reclaimsim-%d.trace", g_get_tmp_dir(), (int)getpid());
	struct rs_trace_writer *writer = rs_trace_create(path, RS_TRACE_NATIVE, error);
	bool ok = writer && rs_generate(&options, writer, NULL, NULL, error);

	if (writer && !ok)
		rs_trace_writer_abort(writer);
	if (ok && rs_trace_writer_close(writer, error))
		return path;
	g_free(path);
	return NULL;
}

char *simulate(const char *trace, const struct rs_scenario *scenario, const char *policy,
	       GError **error)
{
	return simulate_observed(trace, scenario, policy, NULL, NULL, error);
}

char *simulate_observed(const char *trace, const struct rs_scenario *scenario, const char *policy,
			struct observing *observing, struct timeline_file *timeline, GError **error)
{
	struct rs_result *result = NULL;
	char *generated = NULL, *text = NULL;
	bool ok = true;

	if (simulate_is_spec(trace)) {
		generated = simulate_generate(trace, scenario, error);
		trace = generated;
		ok = generated != NULL;
	}
	if (ok && !strcmp(policy, "opt"))
		ok = rs_opt_run(scenario, trace, &result, error);
	else if (ok)
		ok = run_policy(trace, scenario, policy, observing, timeline, &result, error);
	if (ok)
		text = rs_result_json(result);
	if (generated)
		g_unlink(generated);
	g_free(generated);
	rs_result_free(result);
	return text;
}

/* ---- children ---- */

/* A slot of the pool: a process and the job it works on. */
struct child {
	pid_t pid;
	int fd; /* memory file: the text, or the message */
	struct job job;
};

/* In the child: run, leave text or message in fd, exit by what it was. */
static void child_main(const struct job *job, int fd)
{
	GError *error = NULL;
	const char *bytes;
	FILE *stream;
	char *text;

	/* Nobody would take the result of an orphan. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	text = simulate(job->trace, job->scenario, job->policy, &error);
	bytes = text ? text : error->message;
	stream = fdopen(fd, "w");
	if (!stream || fputs(bytes, stream) < 0 || fflush(stream) != 0)
		_exit(126);
	_exit(text ? 0 : 16 + error->code);
}

static char *read_fd(int fd)
{
	GString *text = g_string_new(NULL);
	char buffer[65536];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		g_string_append_len(text, buffer, n);
	return g_string_free(text, FALSE);
}

static void finish(struct job *job, int status, int fd)
{
	char *text = read_fd(fd);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		job->text = text;
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 16 && WEXITSTATUS(status) < 32)
		g_set_error(&job->error, RS_ERROR, WEXITSTATUS(status) - 16, "%s", text);
	else if (WIFSIGNALED(status))
		g_set_error(&job->error, RS_ERROR, RS_ERROR_STALLED,
			    "the run of %s ended by signal %d (%s)", job->policy, WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
	else
		g_set_error(&job->error, RS_ERROR, RS_ERROR_STALLED, "the run of %s gave no result",
			    job->policy);
	g_free(text);
}

/* False: the job's error says why. */
static bool start(struct child *child)
{
	child->fd = memfd_create("result", MFD_CLOEXEC);
	if (child->fd < 0)
		goto fail;
	fflush(stdout);
	fflush(stderr);
	child->pid = fork();
	if (child->pid == 0)
		child_main(&child->job, child->fd);
	if (child->pid > 0)
		return true;
	close(child->fd);
fail:
	g_set_error(&child->job.error, RS_ERROR, RS_ERROR_STALLED, "cannot start a process: %s",
		    g_strerror(errno));
	return false;
}

/* Wait for any of the children; its place in the array. */
static unsigned wait_for_one(const struct child *children, unsigned nr, int *ret_status)
{
	for (;;) {
		pid_t pid = waitpid(-1, ret_status, 0);

		for (unsigned i = 0; i < nr; i++) {
			if (children[i].pid == pid)
				return i;
		}
	}
}

void simulate_pool(unsigned parallel, job_next next, job_done done, void *arg)
{
	unsigned limit = parallel ? parallel : g_get_num_processors(), running = 0;
	struct child *children = g_new0(struct child, limit);
	bool more = true;

	while (more || running) {
		unsigned place;
		int status;

		if (more && running < limit) {
			memset(&children[running], 0, sizeof(*children));
			more = next(arg, &children[running].job);
			if (more && start(&children[running]))
				running++;
			else if (more)
				done(arg, &children[running].job);
			continue;
		}
		if (!running)
			continue;
		place = wait_for_one(children, running, &status);
		finish(&children[place].job, status, children[place].fd);
		close(children[place].fd);
		done(arg, &children[place].job);
		children[place] = children[--running];
	}
	g_free(children);
}

/* ---- a list of jobs ---- */

struct list {
	struct job *jobs;
	unsigned nr, next, done;
	bool progress;
};

static bool list_next(void *arg, struct job *ret)
{
	struct list *list = arg;

	if (list->next == list->nr)
		return false;
	*ret = list->jobs[list->next];
	ret->number = list->next++;
	return true;
}

static void list_done(void *arg, struct job *job)
{
	struct list *list = arg;

	list->jobs[job->number] = *job;
	simulate_progress(list->progress, ++list->done, list->nr);
}

char *progress_option;

static bool progress_check(GError **error)
{
	static const char *const valid[] = { "auto", "always", "never", NULL };

	if (!progress_option || g_strv_contains(valid, progress_option))
		return true;
	g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--progress %s: auto, always or never",
		    progress_option);
	return false;
}

/* On a terminal one line that is drawn anew; elsewhere a line each time. */
void simulate_progress(bool progress, uint64_t done, uint64_t nr)
{
	bool terminal = isatty(STDERR_FILENO), always = !g_strcmp0(progress_option, "always");

	if (!progress || !g_strcmp0(progress_option, "never") || (!terminal && !always))
		return;
	if (terminal)
		fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " runs done%s", command_name(),
			done, nr, done == nr ? "\r\033[K" : "");
	else
		fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 " runs done\n", command_name(), done,
			nr);
	fflush(stderr);
}

bool simulate_all(struct job *jobs, unsigned nr, unsigned parallel, bool progress)
{
	struct list list = { .jobs = jobs, .nr = nr, .progress = progress };
	bool ok = true;

	simulate_pool(parallel, list_next, list_done, &list);
	for (unsigned i = 0; i < nr; i++)
		ok = ok && jobs[i].text;
	return ok;
}

void jobs_clear(struct job *jobs, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		g_free(jobs[i].text);
		g_clear_error(&jobs[i].error);
	}
}

char *simulate_spool_stdin(GError **error)
{
	char *path = NULL;
	char buffer[65536];
	int fd = g_file_open_tmp("reclaimsim-XXXXXX", &path, error);
	ssize_t n;

	if (fd < 0) {
		g_prefix_error(error, "standard input is needed twice: ");
		return NULL;
	}
	while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
		if (write(fd, buffer, (size_t)n) != n)
			break;
	}
	if (n != 0) {
		g_set_error(error, RS_ERROR, RS_ERROR_OUTPUT,
			    "cannot copy standard input to %s: %s", path, g_strerror(errno));
		g_unlink(path);
		g_free(path);
		path = NULL;
	}
	close(fd);
	return path;
}

bool parse_parallel(const char *text, unsigned *ret, GError **error)
{
	int64_t value = 0;

	if (!progress_check(error))
		return false;
	if (text && !rs_parse_int(text, 1, 4096, &value, error)) {
		g_prefix_error(error, "--jobs: ");
		return false;
	}
	*ret = (unsigned)value;
	return true;
}
