/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fio_memory.h - fio's own memory, as the importer of its logs and the generator from its job files
 * model it. The figures are those of /proc/PID/smaps of fio 3.33 (Debian 12), whatever the job;
 * each is the default of a --with setting.
 */
#ifndef TRACES_FIO_MEMORY_H
#define TRACES_FIO_MEMORY_H

/* Private anonymous pages: heap and relocations of 60 libraries, written by the main process. */
#define FIO_OWN_PAGES 1350u
/* Pages that the main process shares with the jobs: pools, statistics. */
#define FIO_SHARED_PAGES 570u
/* Of the private ones so many are touched again, with the I/O buffer, every FIO_TOUCH_EVERY I/Os.
 */
#define FIO_HOT_PAGES 35u
#define FIO_TOUCH_EVERY 32u

#endif
