/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builtin.c - the one list of built-in policies, in the order they are listed to users.
 */
#include <reclaimsim/sim.h>

extern const struct rs_policy_ops classic_policy, fifo_policy;
extern const struct rs_policy_ops mglru_policy, hitshield_policy, exec_promote_policy;

static const struct rs_policy_ops *const builtin[] = {
	&classic_policy, &mglru_policy, &hitshield_policy, &exec_promote_policy, &fifo_policy,
};

const struct rs_policy_ops *rs_policy_builtin(unsigned i)
{
	return i < G_N_ELEMENTS(builtin) ? builtin[i] : NULL;
}
