// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of math.h as device code has them: what the kernel calls, what the host expects, and by how many units
// in the last place the CUDA C++ Programming Guide lets them differ. The kernel sees v in (-9, 9), a > 0, u in (-1, 1);
// the host the same numbers as x, y, z in higher precision.
#pragma once

// clang-format off
#define TENON_FUNCTIONS_32(F) \
  F(expf(v), exp(x), 2) \
  F(exp2f(v), exp2(x), 2) \
  F(exp10f(v), pow(10.0, x), 2) \
  F(expm1f(v), expm1(x), 1) \
  F(logf(a), log(y), 1) \
  F(log2f(a), log2(y), 1) \
  F(log10f(a), log10(y), 2) \
  F(log1pf(a), log1p(y), 1) \
  F(sinf(v), sin(x), 2) \
  F(cosf(v), cos(x), 2) \
  F(tanf(v), tan(x), 4) \
  F(sinpif(u), sin(M_PI *z), 2) \
  F(cospif(u), cos(M_PI *z), 2) \
  F(asinf(u), asin(z), 2) \
  F(acosf(u), acos(z), 2) \
  F(atanf(v), atan(x), 2) \
  F(atan2f(v, a), atan2(x, y), 3) \
  F(sinhf(v), sinh(x), 3) \
  F(coshf(v), cosh(x), 2) \
  F(tanhf(v), tanh(x), 2) \
  F(asinhf(v), asinh(x), 3) \
  F(acoshf(a + 1), acosh(static_cast<double>(a + 1)), 4) \
  F(atanhf(u), atanh(z), 3) \
  F(powf(a, v), pow(y, x), 4) \
  F(sqrtf(a), sqrt(y), 0.51) \
  F(rsqrtf(a), 1 / sqrt(y), 2) \
  F(cbrtf(v), cbrt(x), 1) \
  F(rcbrtf(a), 1 / cbrt(y), 1) \
  F(hypotf(v, a), hypot(x, y), 3) \
  F(erff(v), erf(x), 2) \
  F(erfcf(u), erfc(z), 4) \
  F(normcdff(u), 0.5 * erfc(-z / M_SQRT2), 5) \
  F(tgammaf(a), tgamma(y), 5) \
  F(lgammaf(a), lgamma(y), 6) \
  F(fmodf(v, a), fmod(x, y), 0.01) \
  F(remainderf(v, a), remainder(x, y), 0.01) \
  F(fdimf(v, u), fdim(v, u), 0.01) \
  F(fmaf(v, a, u), fma(x, y, z), 0.51) \
  F(ldexpf(v, 5), ldexp(x, 5), 0.01) \
  F(logbf(a), logb(y), 0.01) \
  F(floorf(v), floor(x), 0.01) \
  F(ceilf(v), ceil(x), 0.01) \
  F(rintf(v), rint(x), 0.01) \
  F(roundf(v), round(x), 0.01) \
  F(truncf(v), trunc(x), 0.01) \
  F(fminf(v, u), fmin(x, z), 0.01) \
  F(fmaxf(v, u), fmax(x, z), 0.01) \
  F(copysignf(a, v), copysign(y, x), 0.01) \
  F(nextafterf(v, a), nextafterf(v, a), 0.01) \
  F(1.0f / a, 1 / y, 0.51)

#define TENON_FUNCTIONS_64(F) \
  F(exp(v), expl(x), 1) \
  F(exp2(v), exp2l(x), 1) \
  F(exp10(v), powl(10.0L, x), 1) \
  F(expm1(v), expm1l(x), 1) \
  F(log(a), logl(y), 1) \
  F(log2(a), log2l(y), 1) \
  F(log10(a), log10l(y), 1) \
  F(log1p(a), log1pl(y), 1) \
  F(sin(v), sinl(x), 2) \
  F(cos(v), cosl(x), 2) \
  F(tan(v), tanl(x), 2) \
  F(asin(u), asinl(z), 2) \
  F(acos(u), acosl(z), 2) \
  F(atan(v), atanl(x), 2) \
  F(atan2(v, a), atan2l(x, y), 2) \
  F(sinh(v), sinhl(x), 2) \
  F(cosh(v), coshl(x), 1) \
  F(tanh(v), tanhl(x), 1) \
  F(asinh(v), asinhl(x), 3) \
  F(acosh(a + 1), acoshl(static_cast<long double>(a + 1)), 3) \
  F(atanh(u), atanhl(z), 2) \
  F(pow(a, v), powl(y, x), 2) \
  F(sqrt(a), sqrtl(y), 0.51) \
  F(rsqrt(a), 1 / sqrtl(y), 1) \
  F(cbrt(v), cbrtl(x), 1) \
  F(hypot(v, a), hypotl(x, y), 2) \
  F(erf(v), erfl(x), 2) \
  F(erfc(u), erfcl(z), 5) \
  F(tgamma(a), tgammal(y), 10) \
  F(lgamma(a), lgammal(y), 4) \
  F(fmod(v, a), fmodl(x, y), 0.01) \
  F(fma(v, a, u), fmal(x, y, z), 0.51) \
  F(floor(v), floorl(x), 0.01) \
  F(rint(v), rintl(x), 0.01) \
  F(1 / a, 1 / y, 0.51)
// clang-format on
