/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types.h - the words every layer speaks: page frame numbers, times, kernels, errors.
 */
#ifndef RECLAIMSIM_TYPES_H
#define RECLAIMSIM_TYPES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <inttypes.h>

#define RS_PAGE_SHIFT 12u
#define RS_PAGE_SIZE 4096u
#define RS_PTRS_PER_TABLE 512u /* PTEs in one page table, 2 MiB of address space */

typedef uint32_t pfn_t; /* page frame number; frame 0 is never allocated */
typedef uint64_t ns_t;	/* simulated time or cost, nanoseconds */

#define RS_PFN_NONE ((pfn_t)0)

/* Kernels whose behaviour can be modelled. The order is the order of release: compare with < >. */
enum rs_kernel {
	RS_KERNEL_5_18, /* minimal MGLRU as first proposed; classic path, swap and batches of 6.1 */
	RS_KERNEL_6_1,
	RS_KERNEL_6_12,
	RS_KERNEL_6_14,
	RS_KERNEL_7_2,
	RS_NR_KERNELS
};

/* Types of evictable memory, as LRU_GEN_ANON and LRU_GEN_FILE in the kernel. */
enum rs_type { RS_ANON, RS_FILE, RS_NR_TYPES };

/* Zones of a node in ascending order. Kernel: include/linux/mmzone.h enum zone_type. */
enum rs_zone { RS_ZONE_DMA, RS_ZONE_DMA32, RS_ZONE_NORMAL, RS_NR_ZONES };

#define RS_DEF_PRIORITY 12
#define RS_SWAP_CLUSTER_MAX 32u

/* Errors caused by users: the message says what, where and what would be valid. */
#define RS_ERROR rs_error_quark()
GQuark rs_error_quark(void);
enum rs_error {
	RS_ERROR_USAGE,	  /* bad option, setting or value */
	RS_ERROR_INPUT,	  /* bad or truncated file, bad trace record */
	RS_ERROR_OUTPUT,  /* cannot write */
	RS_ERROR_STALLED, /* the model came to a stop: deadlock or a driver without progress */
};

#endif
