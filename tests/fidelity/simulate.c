/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.c - a queue of runs, and the children that work it off.
 *
 * One thread: GLib's main loop watches the children and their time limits. A child writes its
 * result into a file of a temporary folder, so no pipe can fill up; its one line of error comes
 * through a pipe that is read after its end.
 */
#include "simulate.h"

#include "command.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PTES_PER_TABLE 512
#define FLUSH_PERIOD_NS 2000000000 /* Kernel: mm/memcontrol.c FLUSH_TIME, 2 s */

static const struct boot usual_boot = { .phase_ns = -1 };
static const guint slow_percent[] = { 100, 70, 140 };

struct job {
	struct batch *batch;
	struct truth_case *c;
	struct boot boot;
	GArray *result;
	char *output;
	GPid pid;
	int stderr_fd;
	guint timer;
	bool timed_out;
};

struct batch {
	const struct simulate_options *options;
	GMainLoop *loop;
	GPtrArray *jobs; /* struct job */
	guint next, running;
	char *folder;
};

static void start_jobs(struct batch *batch);

static void job_free(gpointer data)
{
	struct job *job = data;

	g_clear_pointer(&job->result, g_array_unref);
	g_free(job->output);
	g_free(job);
}

static void read_result(struct job *job)
{
	json_error_t where;
	json_t *root = json_load_file(job->output, 0, &where);

	if (!root) {
		job->c->error = g_strdup_printf("result: %s", where.text);
		return;
	}
	job->result = obs_read(json_object_get(root, "snapshots"), job->c->memcg_mode);
	json_decref(root);
	if (job->result->len != ((GArray *)job->c->repeats->pdata[0])->len) {
		job->c->error = g_strdup_printf("%u snapshots, but the kernel's run has %u",
						job->result->len,
						((GArray *)job->c->repeats->pdata[0])->len);
		g_clear_pointer(&job->result, g_array_unref);
	}
}

static char *read_error(const struct job *job)
{
	char line[512];
	ssize_t n = read(job->stderr_fd, line, sizeof(line) - 1);

	line[MAX(n, 0)] = '\0';
	return g_strdup(g_strchomp(line));
}

static void on_exit_of_child(GPid pid, gint status, gpointer data)
{
	struct job *job = data;
	struct batch *batch = job->batch;

	if (job->timer)
		g_source_remove(job->timer);
	if (job->timed_out)
		job->c->error = g_strdup_printf("no result within %u s", batch->options->timeout_s);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		read_result(job);
	else
		job->c->error = read_error(job);
	close(job->stderr_fd);
	g_spawn_close_pid(pid);
	g_remove(job->output);
	batch->running--;
	start_jobs(batch);
}

static gboolean on_timeout(gpointer data)
{
	struct job *job = data;

	job->timer = 0;
	job->timed_out = true;
	kill(job->pid, SIGKILL);
	return G_SOURCE_REMOVE;
}

static void start_job(struct batch *batch, struct job *job, guint number)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) argv = NULL;

	job->output = g_strdup_printf("%s/%u.json", batch->folder, number);
	argv = command_of_case(job->c, batch->options, job->boot, job->output);
	if (!g_spawn_async_with_pipes(NULL, argv, NULL,
				      G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
				      NULL, &job->pid, NULL, NULL, &job->stderr_fd, &error)) {
		job->c->error = g_strdup(error->message);
		return;
	}
	batch->running++;
	job->timer = g_timeout_add_seconds(batch->options->timeout_s, on_timeout, job);
	g_child_watch_add(job->pid, on_exit_of_child, job);
}

static void start_jobs(struct batch *batch)
{
	while (batch->running < batch->options->jobs && batch->next < batch->jobs->len) {
		start_job(batch, batch->jobs->pdata[batch->next], batch->next);
		batch->next++;
	}
	if (!batch->running)
		g_main_loop_quit(batch->loop);
}

static gboolean on_start(gpointer data)
{
	start_jobs(data);
	return G_SOURCE_REMOVE;
}

static void add_job(struct batch *batch, struct truth_case *c, struct boot boot)
{
	struct job *job = g_new0(struct job, 1);

	job->batch = batch;
	job->c = c;
	job->boot = boot;
	g_ptr_array_add(batch->jobs, job);
}

static bool run_batch(struct batch *batch, GError **error)
{
	batch->folder = g_dir_make_tmp("fidelity-XXXXXX", error);
	if (!batch->folder)
		return false;
	batch->loop = g_main_loop_new(NULL, FALSE);
	g_idle_add(on_start, batch);
	g_main_loop_run(batch->loop);
	g_main_loop_unref(batch->loop);
	g_rmdir(batch->folder);
	g_free(batch->folder);
	return true;
}

bool simulate_all(GPtrArray *cases, const struct simulate_options *options, GError **error)
{
	struct batch batch = { .options = options,
			       .jobs = g_ptr_array_new_with_free_func(job_free) };
	bool ok;

	for (guint i = 0; i < cases->len; i++)
		add_job(&batch, cases->pdata[i], usual_boot);
	ok = run_batch(&batch, error);
	for (guint i = 0; i < cases->len; i++) {
		struct job *job = batch.jobs->pdata[i];

		job->c->sim = g_steal_pointer(&job->result);
	}
	g_ptr_array_unref(batch.jobs);
	return ok;
}

/* Fills case.phases with the results of nr boots; the speeds are taken in turn. */
static bool run_boots(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		      const guint *slow, unsigned nr_slow, GError **error)
{
	struct batch batch = { .options = options,
			       .jobs = g_ptr_array_new_with_free_func(job_free) };
	bool ok;

	for (guint i = 0; i < cases->len * nr; i++) {
		struct boot boot = {
			.phase_ns = (gint64)FLUSH_PERIOD_NS * (i % nr) / nr,
			.layout_pages = PTES_PER_TABLE * (i % nr) / nr,
			.slow_percent = slow[i % nr % nr_slow],
		};

		add_job(&batch, cases->pdata[i / nr], boot);
	}
	ok = run_batch(&batch, error);
	for (guint i = 0; i < batch.jobs->len; i++) {
		struct job *job = batch.jobs->pdata[i];

		if (!job->c->phases)
			job->c->phases =
				g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
		if (job->result)
			g_ptr_array_add(job->c->phases, g_steal_pointer(&job->result));
	}
	g_ptr_array_unref(batch.jobs);
	return ok;
}

bool simulate_phases(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		     GError **error)
{
	return run_boots(cases, options, nr, slow_percent, G_N_ELEMENTS(slow_percent), error);
}

/* The first boot's snapshots with the means of all in them. */
static GArray *mean_of(const GPtrArray *boots)
{
	GArray *mean = g_array_ref(boots->pdata[0]);

	for (guint s = 0; s < mean->len; s++) {
		struct obs_snapshot *to = &g_array_index(mean, struct obs_snapshot, s);

		for (unsigned c = 0; c < obs_nr_counters; c++) {
			int64_t sum = 0;

			if (to->value[c] == OBS_ABSENT)
				continue;
			for (guint i = 0; i < boots->len; i++)
				sum += g_array_index((GArray *)boots->pdata[i], struct obs_snapshot,
						     s)
					       .value[c];
			to->value[c] = (sum + boots->len / 2) / boots->len;
		}
	}
	return mean;
}

bool simulate_boots(GPtrArray *cases, const struct simulate_options *options, unsigned nr,
		    GError **error)
{
	static const guint usual_speed[] = { 100 };

	if (!run_boots(cases, options, nr, usual_speed, 1, error))
		return false;
	for (guint i = 0; i < cases->len; i++) {
		struct truth_case *c = cases->pdata[i];

		if (!c->phases->len)
			continue;
		g_clear_pointer(&c->error, g_free);
		c->sim = mean_of(c->phases);
	}
	return true;
}
