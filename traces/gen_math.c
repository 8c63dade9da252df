/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen_math.c - see gen_math.h.
 *
 * A pair (hi, lo) stands for hi + lo with |lo| <= ulp(hi) / 2. This file must be compiled without
 * contraction of a * b + c into one rounding (CMakeLists.txt sees to it). Sums and products of
 * pairs after T. J. Dekker, "A floating-point technique for extending the available precision"
 * (Numerische Mathematik 18, 1971).
 */
#include "traces/gen_math.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");

struct pair {
	double hi, lo;
};

static const struct pair ln2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };

/* 1 / (2 i + 1) and 1 / i!, the coefficients that need more than 53 bits. */
static const struct pair inverse_odd[9] = {
	{ 0x1.0000000000000p+0, 0x0.0p+0 },
	{ 0x1.5555555555555p-2, 0x1.5555555555555p-56 },
	{ 0x1.999999999999ap-3, -0x1.999999999999ap-57 },
	{ 0x1.2492492492492p-3, 0x1.2492492492492p-57 },
	{ 0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58 },
	{ 0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59 },
	{ 0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58 },
	{ 0x1.1111111111111p-4, 0x1.1111111111111p-60 },
	{ 0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61 },
};
static const struct pair inverse_factorial[8] = {
	{ 0x1.0000000000000p+0, 0x0.0p+0 },
	{ 0x1.0000000000000p+0, 0x0.0p+0 },
	{ 0x1.0000000000000p-1, 0x0.0p+0 },
	{ 0x1.5555555555555p-3, 0x1.5555555555555p-57 },
	{ 0x1.5555555555555p-5, 0x1.5555555555555p-59 },
	{ 0x1.1111111111111p-7, 0x1.1111111111111p-63 },
	{ 0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65 },
	{ 0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73 },
};

static struct pair sum_exact(double a, double b)
{
	double s = a + b, bb = s - a;

	return (struct pair){ s, (a - (s - bb)) + (b - bb) };
}

static struct pair sum_fast(double a, double b) /* |a| >= |b| */
{
	double s = a + b;

	return (struct pair){ s, b - (s - a) };
}

static struct pair product_exact(double a, double b)
{
	const double split = 134217729.0; /* 2^27 + 1 */
	double ca = split * a, cb = split * b;
	double ah = ca - (ca - a), al = a - ah;
	double bh = cb - (cb - b), bl = b - bh;
	double p = a * b;

	return (struct pair){ p, ((ah * bh - p) + ah * bl + al * bh) + al * bl };
}

static struct pair add(struct pair a, struct pair b)
{
	struct pair s = sum_exact(a.hi, b.hi), t = sum_exact(a.lo, b.lo);

	s = sum_fast(s.hi, s.lo + t.hi);
	return sum_fast(s.hi, s.lo + t.lo);
}

static struct pair mul(struct pair a, struct pair b)
{
	struct pair p = product_exact(a.hi, b.hi);

	return sum_fast(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static struct pair scale(struct pair a, double b)
{
	return mul(a, (struct pair){ b, 0 });
}

static struct pair divide(struct pair a, struct pair b)
{
	double q1 = a.hi / b.hi, q2, q3;
	struct pair r = add(a, scale(b, -q1));

	q2 = r.hi / b.hi;
	r = add(r, scale(b, -q2));
	q3 = r.hi / b.hi;
	return add(sum_fast(q1, q2), (struct pair){ q3, 0 });
}

/* log x = k log 2 + 2 atanh((m - 1) / (m + 1)), m between sqrt(1/2) and sqrt(2). */
static struct pair pair_log(double x)
{
	int k, i;
	double m = frexp(x, &k), tail = 0;
	struct pair s, s2, sum;

	if (m < 0.70710678118654752) {
		m *= 2;
		k--;
	}
	s = divide(sum_exact(m, -1), sum_exact(m, 1));
	s2 = mul(s, s);
	for (i = 22; i >= 9; i--)
		tail = tail * s2.hi + 1.0 / (2 * i + 1);
	sum = (struct pair){ tail, 0 };
	for (i = 8; i >= 0; i--)
		sum = add(mul(sum, s2), inverse_odd[i]);
	return add(scale(ln2, k), scale(mul(sum, s), 2));
}

/* exp(x) - 1 for |x| < log(2) / 128. */
static struct pair pair_expm1_small(struct pair x)
{
	static const double factorial[] = { 40320, 362880, 3628800, 39916800, 479001600 };
	double tail = 0;
	struct pair sum;
	int i;

	for (i = 12; i >= 8; i--)
		tail = tail * x.hi + 1 / factorial[i - 8];
	sum = (struct pair){ tail, 0 };
	for (i = 7; i >= 1; i--)
		sum = add(mul(sum, x), inverse_factorial[i]);
	return mul(sum, x);
}

/* exp(x) - 1 = 2^k (1 + e) - 1 with e = exp(r) - 1, from r / 64 by squaring six times. */
static struct pair pair_expm1(struct pair x)
{
	double k = floor(x.hi / ln2.hi + 0.5);
	struct pair r = add(x, scale(ln2, -k)), e;
	int i;

	r.hi /= 64;
	r.lo /= 64;
	e = pair_expm1_small(r);
	for (i = 0; i < 6; i++)
		e = add(scale(e, 2), mul(e, e));
	if (k == 0)
		return e;
	e = add(e, (struct pair){ 1, 0 });
	e.hi = ldexp(e.hi, (int)k);
	e.lo = ldexp(e.lo, (int)k);
	return add(e, (struct pair){ -1, 0 });
}

double gen_log(double x)
{
	struct pair r = pair_log(x);

	return r.hi + r.lo;
}

/* Beyond these bounds the result is no normal number; callers only need it to be huge or tiny. */
static bool exp_extreme(double x, double *ret)
{
	*ret = x > 0 ? DBL_MAX : 0;
	return x > 700 || x < -700;
}

static double exp_of(struct pair x)
{
	struct pair e;
	double extreme;

	if (exp_extreme(x.hi, &extreme))
		return extreme;
	e = add(pair_expm1(x), (struct pair){ 1, 0 });
	return e.hi + e.lo;
}

double gen_exp(double x)
{
	return exp_of((struct pair){ x, 0 });
}

double gen_pow(double x, double y)
{
	if (y == 0)
		return 1;
	if (x <= 0)
		return y > 0 ? 0 : DBL_MAX;
	return exp_of(scale(pair_log(x), y));
}

double gen_powm1_over(double x, double p)
{
	struct pair l = pair_log(x), e;
	double extreme;

	if (p == 0)
		return l.hi + l.lo;
	e = scale(l, p);
	if (exp_extreme(e.hi, &extreme))
		return (extreme - 1) / p;
	e = divide(pair_expm1(e), (struct pair){ p, 0 });
	return e.hi + e.lo;
}
