/* Three constrained mechanical systems for SUNDIALS IDA: Andrews' squeezing mechanism, the car axis, and the leech; the leech for
 * Hairer and Wanner's RADAU5 too.
 *
 * Built and run by dae.py, which links it to the libraries inside the package scikit-sundae; that package has no headers, so
 * the few functions used here are declared below (SUNDIALS 7, double precision, 32-bit indices).
 *
 * Unknowns are q, v and the multipliers λ of  M v' = f − Gᵀλ. Forms of the constraints:
 *     1   G v' + γ = 0              index 1, the constraints drift
 *     2   G v + g_t = 0             index 2, positions drift
 *     3   g = 0 and G v + g_t = 0   index 2, stabilised (Gear, Gupta, Leimkuhler): q' = v − Gᵀμ
 * Multipliers stay out of the error test. Jacobians are dense and differenced by IDA, or for the leech exact and banded. RADAU5 solves
 * forms 1 and 2 of the leech as it comes, with a dense Jacobian that it differences; it is loaded from the library of the R package
 * deSolve, which has the original code.
 *
 * Arguments: problem form tolerance repeats [plain|band|lapack|radau] [file with N, end time, then q and v of the leech] [library].
 * Prints one line: CPU seconds (the best of the repeats), steps, residuals, Jacobians, then q and v at the end.
 *
 * References: Mazzia, Magherini, Test Set for IVP Solvers, release 2.4, Bari 2008 (andrews, caraxis); Hindmarsh et al., SUNDIALS,
 * ACM Trans. Math. Softw. 31 (2005) 363–396; Hairer, Wanner, Solving Ordinary Differential Equations II, Springer 1996; Gear, Leimkuhler, Gupta, J. Comput. Appl. Math. 12 (1985) 77–90.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the part of SUNDIALS that is used */
typedef void *SUNContext, *N_Vector, *SUNMatrix, *SUNLinearSolver;
typedef int (*Residual)(double, N_Vector, N_Vector, N_Vector, void *);
typedef int (*Jacobian)(double, double, N_Vector, N_Vector, N_Vector, SUNMatrix, void *, N_Vector, N_Vector, N_Vector);
int SUNContext_Create(int, SUNContext *);
int SUNContext_ClearErrHandlers(SUNContext);
N_Vector N_VNew_Serial(int, SUNContext);
double *N_VGetArrayPointer(N_Vector);
SUNMatrix SUNDenseMatrix(int, int, SUNContext), SUNBandMatrix(int, int, int, SUNContext);
double *SUNBandMatrix_Column(SUNMatrix, int);
SUNLinearSolver SUNLinSol_Dense(N_Vector, SUNMatrix, SUNContext), SUNLinSol_Band(N_Vector, SUNMatrix, SUNContext);
SUNLinearSolver SUNLinSol_LapackBand(N_Vector, SUNMatrix, SUNContext);
void *IDACreate(SUNContext);
int IDAInit(void *, Residual, double, N_Vector, N_Vector), IDASStolerances(void *, double, double);
int IDASetId(void *, N_Vector), IDASetSuppressAlg(void *, int), IDASetMaxNumSteps(void *, long);
int IDASetLinearSolver(void *, SUNLinearSolver, SUNMatrix), IDASetJacFn(void *, Jacobian), IDASetStopTime(void *, double);
int IDASolve(void *, double, double *, N_Vector, N_Vector, int);
int IDAGetNumSteps(void *, long *), IDAGetNumResEvals(void *, long *), IDAGetNumJacEvals(void *, long *);
void IDAFree(void **);
enum { IDA_NORMAL = 1 };

/* ---- a mechanical system: n coordinates, m constraints */
enum { MOST = 20000 };
static int n, m, form, total;
static int place_q[MOST], place_v[MOST], place_l[MOST], place_m[MOST]; /* places among the unknowns */
static double until, q0[MOST], v0[MOST];
static long evaluations;

/* M a − f + Gᵀλ, Gᵀμ, and the rows asked for by `form`: `position` takes g, `motion` takes G v + g_t or G a + γ. */
static void (*evaluate)(double t, const double *q, const double *v, const double *a, const double *l, const double *mu,
                        double *balance, double *shift, double *position, double *motion);

/* ---- Andrews' squeezing mechanism */
static void andrews(double t, const double *q, const double *v, const double *a, const double *l, const double *mu,
                    double *balance, double *shift, double *position, double *motion) {
  static const double M2 = .00365, M3 = .02373, M4 = .00706, M5 = .07050, M6 = .00706, M7 = .05498, M1 = .04325;
  static const double XA = -.06934, YA = -.00227, XB = -.03635, YB = .03273, XC = .014, YC = .072, C0 = 4530;
  static const double I1 = 2.194e-6, I2 = 4.410e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7, I7 = 1.912e-5;
  static const double D = 28e-3, DA = 115e-4, E = 2e-2, EA = 1421e-5, RR = 7e-3, RA = 92e-5, L0 = 7785e-5, SS = 35e-3;
  static const double SA = 1874e-5, SB = 1043e-5, SC = 18e-3, SD = 2e-2, TA = 2308e-5, TB = 916e-5, U = 4e-2, UA = 1228e-5;
  static const double UB = 449e-5, ZF = 2e-2, ZT = 4e-2, FA = 1421e-5, TORQUE = 33e-3;
  double sb = sin(q[0]), cb = cos(q[0]), st = sin(q[1]), ct = cos(q[1]), sg = sin(q[2]), cg = cos(q[2]), sp = sin(q[3]);
  double cp = cos(q[3]), sd = sin(q[4]), cd = cos(q[4]), so = sin(q[5]), co = cos(q[5]), se = sin(q[6]), ce = cos(q[6]);
  double sbt = sb * ct + cb * st, cbt = cb * ct - sb * st, spd = sp * cd + cp * sd, cpd = cp * cd - sp * sd;
  double soe = so * ce + co * se, coe = co * ce - so * se, e = E - EA, z = ZF - FA;
  double M[7][7] = {{0}}, f[7], G[6][7] = {{0}};
  (void)t;
  M[0][0] = M1 * RA * RA + M2 * (RR * RR - 2 * DA * RR * ct + DA * DA) + I1 + I2;
  M[0][1] = M[1][0] = M2 * (DA * DA - DA * RR * ct) + I2;
  M[1][1] = M2 * DA * DA + I2;
  M[2][2] = M3 * (SA * SA + SB * SB) + I3;
  M[3][3] = M4 * e * e + I4;
  M[3][4] = M[4][3] = M4 * (e * e + ZT * e * sp) + I4;
  M[4][4] = M4 * (ZT * ZT + 2 * ZT * e * sp + e * e) + M5 * (TA * TA + TB * TB) + I4 + I5;
  M[5][5] = M6 * z * z + I6;
  M[5][6] = M[6][5] = M6 * (z * z - U * z * so) + I6;
  M[6][6] = M6 * (z * z - 2 * U * z * so + U * U) + M7 * (UA * UA + UB * UB) + I6 + I7;
  double xd = SD * cg + SC * sg + XB, yd = SD * sg - SC * cg + YB, length = hypot(xd - XC, yd - YC);
  double tension = -C0 * (length - L0) / length, fx = tension * (xd - XC), fy = tension * (yd - YC);
  f[0] = TORQUE - M2 * DA * RR * v[1] * (v[1] + 2 * v[0]) * st;
  f[1] = M2 * DA * RR * v[0] * v[0] * st;
  f[2] = fx * (SC * cg - SD * sg) + fy * (SD * cg + SC * sg);
  f[3] = M4 * ZT * e * v[4] * v[4] * cp;
  f[4] = -M4 * ZT * e * v[3] * (v[3] + 2 * v[4]) * cp;
  f[5] = -M6 * U * z * v[6] * v[6] * co;
  f[6] = M6 * U * z * v[5] * (v[5] + 2 * v[6]) * co;
  for (int k = 0; k < 6; k += 2) {
    G[k][0] = -RR * sb + D * sbt, G[k][1] = D * sbt;
    G[k + 1][0] = RR * cb - D * cbt, G[k + 1][1] = -D * cbt;
  }
  G[0][2] = -SS * cg, G[1][2] = -SS * sg;
  G[2][3] = -E * cpd, G[2][4] = -E * cpd + ZT * sd, G[3][3] = -E * spd, G[3][4] = -E * spd - ZT * cd;
  G[4][5] = ZF * soe, G[4][6] = ZF * soe - U * ce, G[5][5] = -ZF * coe, G[5][6] = -ZF * coe - U * se;
  for (int i = 0; i < 7; i++) {
    balance[i] = -f[i], shift[i] = 0;
    for (int j = 0; j < 7; j++) balance[i] += M[i][j] * a[j];
    for (int k = 0; k < 6; k++) balance[i] += G[k][i] * l[k], shift[i] += G[k][i] * mu[k];
  }
  double px = RR * cb - D * cbt, py = RR * sb - D * sbt;
  position[0] = px - SS * sg - XB, position[1] = py + SS * cg - YB;
  position[2] = px - E * spd - ZT * cd - XA, position[3] = py + E * cpd - ZT * sd - YA;
  position[4] = px - ZF * coe - U * se - XA, position[5] = py - ZF * soe + U * ce - YA;
  for (int k = 0; k < 6; k++) {
    motion[k] = 0;
    for (int j = 0; j < 7; j++) motion[k] += G[k][j] * (form == 1 ? a[j] : v[j]);
  }
  if (form == 1) {
    double w = v[0] + v[1], b2 = v[0] * v[0], pd = v[3] + v[4], oe = v[5] + v[6];
    double hx = -RR * cb * b2 + D * cbt * w * w, hy = -RR * sb * b2 + D * sbt * w * w;
    motion[0] += hx + SS * sg * v[2] * v[2], motion[1] += hy - SS * cg * v[2] * v[2];
    motion[2] += hx + E * spd * pd * pd + ZT * cd * v[4] * v[4], motion[3] += hy - E * cpd * pd * pd + ZT * sd * v[4] * v[4];
    motion[4] += hx + ZF * coe * oe * oe + U * se * v[6] * v[6], motion[5] += hy + ZF * soe * oe * oe - U * ce * v[6] * v[6];
  }
}

/* ---- car axis: q = (xl, yl, xr, yr) */
static void car_axis(double t, const double *q, const double *v, const double *a, const double *l, const double *mu,
                     double *balance, double *shift, double *position, double *motion) {
  const double L = 1, L0 = .5, K = 10 * .01 * .01 / 2, r = .1, w = 10;
  double y = r * sin(w * t), y1 = r * w * cos(w * t), y2 = -w * w * y;
  double x = sqrt(L * L - y * y), x1 = -y * y1 / x, x2 = -(y1 * y1 + y * y2 + x1 * x1) / x;
  double dx = q[2] - x, dy = q[3] - y, ll = hypot(q[0], q[1]), lr = hypot(dx, dy), cl = (L0 - ll) / ll, cr = (L0 - lr) / lr;
  double ex = q[0] - q[2], ey = q[1] - q[3], ux = v[0] - v[2], uy = v[1] - v[3];
  double f[4] = {cl * q[0], cl * q[1] - K, cr * dx, cr * dy - K}; /* weight K g with g = 1 */
  double G[2][4] = {{x, y, 0, 0}, {2 * ex, 2 * ey, -2 * ex, -2 * ey}};
  for (int i = 0; i < 4; i++) {
    balance[i] = K * a[i] - f[i] + G[0][i] * l[0] + G[1][i] * l[1];
    shift[i] = G[0][i] * mu[0] + G[1][i] * mu[1];
  }
  position[0] = q[0] * x + q[1] * y, position[1] = ex * ex + ey * ey - L * L;
  if (form == 1) {
    motion[0] = x * a[0] + y * a[1] + 2 * (x1 * v[0] + y1 * v[1]) + x2 * q[0] + y2 * q[1];
    motion[1] = 2 * (ex * (a[0] - a[2]) + ey * (a[1] - a[3]) + ux * ux + uy * uy);
  } else {
    motion[0] = x * v[0] + y * v[1] + x1 * q[0] + y1 * q[1];
    motion[1] = 2 * (ex * ux + ey * uy);
  }
}

/* ---- the leech: N segments with a volume each; corner k of face f has coordinates 12 f + 3 k */
static int segments;
static double volumes[MOST];
static const double MASS = .01, STIFFNESS = 16, DAMPING = .1, LONG = 1.7, ROUND = .05, TWO_PI = 6.283185307179586;
static const int FACES[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
static const int RING[4][2] = {{0, 1}, {1, 3}, {3, 2}, {2, 0}};

static inline void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The gradient of the volume of a cell with corners x, 24 numbers. */
static void gradient(const double *x, double *out) {
  memset(out, 0, 24 * sizeof *out);
  for (int face = 0; face < 6; face++)
    for (int k = 0; k < 4; k++) {
      int b = FACES[face][(k + 1) & 3], c = FACES[face][(k + 2) & 3], d = FACES[face][(k + 3) & 3];
      double sum[3], first[3], second[3], *to = out + 3 * FACES[face][k];
      for (int i = 0; i < 3; i++) sum[i] = x[3 * c + i] + x[3 * d + i];
      cross(x + 3 * b, sum, first), cross(x + 3 * c, x + 3 * d, second);
      for (int i = 0; i < 3; i++) to[i] += (first[i] + second[i]) / 12;
    }
}

static double inner(int size, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < size; i++) sum += a[i] * b[i];
  return sum;
}

static double activation(int round, double t, double s) {
  double wave = .15 * sin(TWO_PI * (t - 2 * s));
  return round ? .7 - wave : .8 + wave;
}

typedef struct { int i, j; double stiffness, rest; } Edge;

/* The edges of segment or face number `at`; returns how many. */
static int edges(int round, int at, double t, Edge *out) {
  double s = round ? (double)at / segments : (at + .5) / segments, k = STIFFNESS * activation(round, t, s);
  for (int e = 0; e < 4; e++) {
    out[e].i = 12 * at + 3 * (round ? RING[e][0] : e), out[e].j = 12 * (round ? at : at + 1) + 3 * (round ? RING[e][1] : e);
    out[e].stiffness = k, out[e].rest = round ? ROUND : LONG;
  }
  return 4;
}

static void leech(double t, const double *q, const double *v, const double *a, const double *l, const double *mu,
                  double *balance, double *shift, double *position, double *motion) {
  for (int i = 0; i < n; i++) balance[i] = MASS * a[i], shift[i] = 0;
  for (int round = 0; round < 2; round++)
    for (int at = 0; at < segments + round; at++) {
      Edge list[4];
      edges(round, at, t, list);
      for (int e = 0; e < 4; e++) {
        const double *x = q + list[e].i, *y = q + list[e].j, *u = v + list[e].i, *w = v + list[e].j;
        double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]}, length = sqrt(inner(3, d, d));
        double rate = (d[0] * (w[0] - u[0]) + d[1] * (w[1] - u[1]) + d[2] * (w[2] - u[2])) / length;
        double tension = (list[e].stiffness * (length - list[e].rest) + DAMPING * rate) / length;
        for (int i = 0; i < 3; i++) balance[list[e].i + i] -= tension * d[i], balance[list[e].j + i] += tension * d[i];
      }
    }
  for (int k = 0; k < m; k++) {
    const double *x = q + 12 * k, *u = v + 12 * k, *w = a + 12 * k;
    double slope[24];
    gradient(x, slope);
    for (int i = 0; i < 24; i++) balance[12 * k + i] -= slope[i] * l[k];
    if (form == 3) {
      for (int i = 0; i < 24; i++) shift[12 * k + i] -= slope[i] * mu[k];
      position[k] = volumes[k] - inner(24, x, slope) / 3; /* the volume is homogeneous of degree 3 */
    }
    if (form == 1) {
      /* v·H v by polarisation of the cubic: H v = ∇V(x + v) − ∇V(x) − ∇V(v) */
      double both[24], sum[24], own[24];
      for (int i = 0; i < 24; i++) sum[i] = x[i] + u[i];
      gradient(sum, both), gradient(u, own);
      motion[k] = -inner(24, slope, w);
      for (int i = 0; i < 24; i++) motion[k] -= u[i] * (both[i] - slope[i] - own[i]);
    } else
      motion[k] = -inner(24, slope, u);
  }
}

/* The second derivative of the volume of a cell, 24 × 24. */
static void hessian(const double *x, double (*h)[24]) {
  memset(h, 0, 24 * 24 * sizeof(double));
  for (int face = 0; face < 6; face++)
    for (int k = 0; k < 4; k++) {
      const int *f = FACES[face];
      int at = f[k], b = f[(k + 1) & 3], c = f[(k + 2) & 3], d = f[(k + 3) & 3];
      double axis[3][3];
      for (int i = 0; i < 3; i++) {
        axis[0][i] = -(x[3 * c + i] + x[3 * d + i]), axis[1][i] = x[3 * b + i] - x[3 * d + i];
        axis[2][i] = x[3 * b + i] + x[3 * c + i];
      }
      int other[3] = {b, c, d};
      for (int o = 0; o < 3; o++) { /* 12 ∂²V/∂a∂o = the skew matrix of an axis */
        const double *w = axis[o];
        double skew[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) h[3 * at + i][3 * other[o] + j] += skew[i][j] / 12;
      }
    }
}

static int leech_jacobian(double t, double c, N_Vector Y, N_Vector P, N_Vector R, SUNMatrix J, void *u, N_Vector a, N_Vector b,
                          N_Vector d) {
  (void)R, (void)u, (void)a, (void)b, (void)d;
  const double *y = N_VGetArrayPointer(Y), *p = N_VGetArrayPointer(P);
#define ADD(row, col, value) (SUNBandMatrix_Column(J, col)[(row) - (col)] += (value))
  for (int i = 0; i < n; i++) {
    ADD(place_q[i], place_q[i], c), ADD(place_q[i], place_v[i], -1), ADD(place_v[i], place_v[i], c * MASS);
  }
  for (int round = 0; round < 2; round++)
    for (int at = 0; at < segments + round; at++) {
      Edge list[4];
      edges(round, at, t, list);
      for (int e = 0; e < 4; e++) {
        int ends[2] = {list[e].i, list[e].j};
        double D[3], W[3], length = 0, rate = 0;
        for (int i = 0; i < 3; i++) {
          D[i] = y[place_q[ends[1] + i]] - y[place_q[ends[0] + i]], W[i] = y[place_v[ends[1] + i]] - y[place_v[ends[0] + i]];
          length += D[i] * D[i];
        }
        length = sqrt(length);
        for (int i = 0; i < 3; i++) D[i] /= length, rate += D[i] * W[i];
        double tension = list[e].stiffness * (length - list[e].rest) + DAMPING * rate;
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) {
            double along = D[i] * (list[e].stiffness * D[j] + DAMPING * (W[j] - D[j] * rate) / length);
            double stiff = along + tension * ((i == j) - D[i] * D[j]) / length, damp = DAMPING * D[i] * D[j];
            for (int k = 0; k < 2; k++)
              for (int o = 0; o < 2; o++) {
                double sign = k == o ? 1 : -1;
                ADD(place_v[ends[k] + i], place_q[ends[o] + j], sign * stiff);
                ADD(place_v[ends[k] + i], place_v[ends[o] + j], sign * damp);
              }
          }
      }
    }
  for (int k = 0; k < m; k++) {
    double x[24], v[24], w[24], slope[24], own[24], h[24][24];
    for (int i = 0; i < 24; i++) {
      x[i] = y[place_q[12 * k + i]], v[i] = y[place_v[12 * k + i]], w[i] = p[place_v[12 * k + i]];
    }
    gradient(x, slope), gradient(v, own), hessian(x, h);
    double l = y[place_l[k]];
    for (int i = 0; i < 24; i++) {
      int qi = place_q[12 * k + i], vi = place_v[12 * k + i];
      double hv = inner(24, h[i], v), hw = inner(24, h[i], w);
      for (int j = 0; j < 24; j++)
        if (h[i][j] != 0) ADD(vi, place_q[12 * k + j], -l * h[i][j]);
      ADD(vi, place_l[k], -slope[i]);
      if (form == 1)
        ADD(place_l[k], vi, -c * slope[i] - 2 * hv), ADD(place_l[k], qi, -hw - 2 * own[i]);
      else
        ADD(place_l[k], vi, -slope[i]), ADD(place_l[k], qi, -hv);
      if (form == 3) ADD(place_m[k], qi, -slope[i]), ADD(qi, place_m[k], -slope[i]);
    }
  }
#undef ADD
  return 0;
}

/* ---- the residual of all of them */
static double sq[MOST], sv[MOST], sa[MOST], sl[MOST], sm[MOST], balance[MOST], shift[MOST], position[MOST], motion[MOST];

static int residual(double t, N_Vector Y, N_Vector P, N_Vector R, void *u) {
  (void)u;
  const double *y = N_VGetArrayPointer(Y), *p = N_VGetArrayPointer(P);
  double *r = N_VGetArrayPointer(R);
  evaluations++;
  for (int i = 0; i < n; i++) sq[i] = y[place_q[i]], sv[i] = y[place_v[i]], sa[i] = p[place_v[i]];
  for (int k = 0; k < m; k++) sl[k] = y[place_l[k]], sm[k] = form == 3 ? y[place_m[k]] : 0;
  evaluate(t, sq, sv, sa, sl, sm, balance, shift, position, motion);
  for (int i = 0; i < n; i++) r[place_q[i]] = p[place_q[i]] - sv[i] + (form == 3 ? shift[i] : 0), r[place_v[i]] = balance[i];
  for (int k = 0; k < m; k++) {
    r[place_l[k]] = motion[k];
    if (form == 3) r[place_m[k]] = position[k];
  }
  return 0;
}

/* Accelerations and multipliers at the start: the index-1 form is linear in them; probing gives its matrix. */
static void start_values(double *a, double *l) {
  int size = n + m, kept = form;
  double *matrix = calloc((size_t)size * (size + 1), sizeof *matrix), *x = calloc(size, sizeof *x), *zero = calloc(m, sizeof *zero);
  form = 1;
  for (int col = 0; col <= size; col++) {
    memset(x, 0, size * sizeof *x);
    if (col < size) x[col] = 1;
    evaluate(0, q0, v0, x, x + n, zero, balance, shift, position, motion);
    for (int row = 0; row < size; row++) matrix[row * (size + 1) + col] = row < n ? balance[row] : motion[row - n];
  }
  form = kept;
  for (int row = 0; row < size; row++) {
    double *line = matrix + row * (size + 1);
    for (int col = 0; col < size; col++) line[col] -= line[size];
    line[size] = -line[size];
  }
  for (int k = 0; k < size; k++) { /* Gauss with exchanges */
    int best = k;
    for (int i = k + 1; i < size; i++)
      if (fabs(matrix[i * (size + 1) + k]) > fabs(matrix[best * (size + 1) + k])) best = i;
    for (int j = k; j <= size; j++) {
      double other = matrix[k * (size + 1) + j];
      matrix[k * (size + 1) + j] = matrix[best * (size + 1) + j], matrix[best * (size + 1) + j] = other;
    }
    for (int i = k + 1; i < size; i++) {
      double factor = matrix[i * (size + 1) + k] / matrix[k * (size + 1) + k];
      if (factor != 0)
        for (int j = k; j <= size; j++) matrix[i * (size + 1) + j] -= factor * matrix[k * (size + 1) + j];
    }
  }
  for (int k = size - 1; k >= 0; k--) {
    double sum = matrix[k * (size + 1) + size];
    for (int j = k + 1; j < size; j++) sum -= matrix[k * (size + 1) + j] * x[j];
    x[k] = sum / matrix[k * (size + 1) + k];
  }
  memcpy(a, x, n * sizeof *a), memcpy(l, x + n, m * sizeof *l);
  free(matrix), free(x), free(zero);
}

static double clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* ---- RADAU5: q' = v, v' = M⁻¹ (f − Gᵀλ), 0 = the rows */
typedef void (*Rates)(int *, double *, double *, double *, double *, int *);
typedef void (*Masses)(int *, double *, int *, double *, int *);
typedef void (*Radau5)(int *, Rates, double *, double *, double *, double *, double *, double *, int *, void (*)(void), int *, int *,
                       int *, Masses, int *, int *, int *, void (*)(void), int *, double *, int *, int *, int *, double *, int *,
                       int *);

static void radau_rates(int *size, double *t, double *y, double *out, double *reals, int *integers) {
  static const double none[MOST];
  (void)size, (void)reals, (void)integers;
  evaluations++;
  evaluate(*t, y, y + n, none, y + 2 * n, none, balance, shift, position, motion);
  for (int i = 0; i < n; i++) out[i] = y[n + i], out[n + i] = sa[i] = -balance[i] / MASS;
  if (form == 1) evaluate(*t, y, y + n, sa, y + 2 * n, none, balance, shift, position, motion);
  for (int k = 0; k < m; k++) out[2 * n + k] = motion[k];
}

static void radau_masses(int *size, double *out, int *stride, double *reals, int *integers) {
  (void)reals, (void)integers;
  for (int i = 0; i < *size; i++) out[i * *stride] = i < 2 * n;
}

static void nothing(void) {}

/* CPU seconds; leaves q and v. */
static double radau(const char *library, double tolerance, const double *l, double *q, double *v, long *counts) {
  void *file = dlopen(library, RTLD_LAZY);
  Radau5 radau5 = file ? (Radau5)dlsym(file, "radau5_") : NULL;
  if (!radau5) fail("RADAU5 was not found in the library");
  int size = 2 * n + m, zero = 0, one = 1, reals = size * (size + 1 + 3 * size + 12) + 20, integers = 3 * size + 20, done = 0;
  double *y = calloc(size, sizeof *y), *work = calloc(reals, sizeof *work), t = 0, end = until, step = 1e-6;
  int *list = calloc(integers, sizeof *list);
  memcpy(y, q0, n * sizeof *y), memcpy(y + n, v0, n * sizeof *y), memcpy(y + 2 * n, l, m * sizeof *y);
  list[1] = 10000000, list[4] = form == 1 ? size : 2 * n, list[5] = size - list[4];
  double began = clock_now();
  radau5(&size, radau_rates, &t, y, &end, &step, &tolerance, &tolerance, &zero, nothing, &zero, &size, &size, radau_masses, &one,
         &zero, &zero, nothing, &zero, work, &reals, list, &integers, NULL, NULL, &done);
  double seconds = clock_now() - began;
  if (done != 1) fail("RADAU5 gave up");
  memcpy(q, y, n * sizeof *y), memcpy(v, y + n, n * sizeof *y);
  counts[0] = list[15], counts[1] = evaluations, counts[2] = list[14];
  free(y), free(work), free(list);
  return seconds;
}

int main(int count, char **arguments) {
  if (count < 5) fail("arguments: problem form tolerance repeats [plain|band|lapack] [file]");
  const char *problem = arguments[1];
  form = atoi(arguments[2]);
  double tolerance = atof(arguments[3]);
  int repeats = atoi(arguments[4]), lapack = count > 5 && !strcmp(arguments[5], "lapack"), blocks = 0;
  if (!strcmp(problem, "andrews")) {
    const double start[7] = {-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885,
                             0.487364979543842550, -0.222668390165885885, 1.23054744454982119};
    n = 7, m = 6, until = .03, evaluate = andrews;
    memcpy(q0, start, sizeof start);
  } else if (!strcmp(problem, "car-axis")) {
    const double start[4] = {0, .5, 1, .5}, speed[4] = {-.5, 0, -.5, 0};
    n = 4, m = 2, until = 3, evaluate = car_axis;
    memcpy(q0, start, sizeof start), memcpy(v0, speed, sizeof speed);
  } else if (!strcmp(problem, "leech") && count > 6) {
    FILE *file = fopen(arguments[6], "r");
    if (!file || fscanf(file, "%d %lf", &segments, &until) != 2) fail("cannot read the shape of the leech");
    n = 12 * (segments + 1), m = segments, blocks = 1, evaluate = leech;
    if (2 * (n + m) > MOST) fail("too many segments");
    for (int i = 0; i < 2 * n; i++)
      if (fscanf(file, "%lf", i < n ? q0 + i : v0 + i - n) != 1) fail("too few coordinates of the leech");
    for (int k = 0; k < m; k++) {
      double slope[24];
      gradient(q0 + 12 * k, slope);
      volumes[k] = inner(24, q0 + 12 * k, slope) / 3;
    }
  } else
    fail("unknown problem");
  /* Unknowns in blocks of a face of the leech; one block for the small systems. */
  int banded = blocks && strcmp(arguments[5], "plain"), block = blocks ? 12 : n, per = blocks ? 1 : m;
  total = 0;
  for (int first = 0, row = 0; first < n; first += block) {
    for (int i = first; i < first + block; i++) place_q[i] = total++;
    for (int i = first; i < first + block; i++) place_v[i] = total++;
    for (int k = 0; k < per && row < m; k++, row++) {
      place_l[row] = total++;
      if (form == 3) place_m[row] = total++;
    }
  }
  double a[MOST], l[MOST];
  start_values(a, l);
  double best = 1e300, q[MOST], v[MOST];
  long steps = 0, residuals = 0, jacobians = 0;
  if (count > 7 && !strcmp(arguments[5], "radau")) {
    long counts[3];
    best = radau(arguments[7], tolerance, l, q, v, counts);
    steps = counts[0], residuals = counts[1], jacobians = counts[2], repeats = 0;
  }
  for (int repeat = 0; repeat < repeats; repeat++) {
    SUNContext context;
    SUNContext_Create(0, &context);
    SUNContext_ClearErrHandlers(context);
    N_Vector Y = N_VNew_Serial(total, context), P = N_VNew_Serial(total, context), I = N_VNew_Serial(total, context);
    double *y = N_VGetArrayPointer(Y), *p = N_VGetArrayPointer(P), *id = N_VGetArrayPointer(I);
    for (int i = 0; i < total; i++) y[i] = p[i] = id[i] = 0;
    for (int i = 0; i < n; i++) {
      y[place_q[i]] = q0[i], y[place_v[i]] = p[place_q[i]] = v0[i], p[place_v[i]] = a[i];
      id[place_q[i]] = id[place_v[i]] = 1;
    }
    for (int k = 0; k < m; k++) y[place_l[k]] = l[k];
    double began = clock_now();
    void *ida = IDACreate(context);
    int width = banded ? 2 * (24 + (form == 3 ? 2 : 1)) - 1 : 0;
    SUNMatrix A = banded ? SUNBandMatrix(total, width, width, context) : SUNDenseMatrix(total, total, context);
    SUNLinearSolver solver = !banded  ? SUNLinSol_Dense(Y, A, context)
                             : lapack ? SUNLinSol_LapackBand(Y, A, context)
                                      : SUNLinSol_Band(Y, A, context);
    if (IDAInit(ida, residual, 0, Y, P) || IDASStolerances(ida, tolerance, tolerance) || IDASetId(ida, I) ||
        IDASetSuppressAlg(ida, 1) || IDASetMaxNumSteps(ida, 10000000) || IDASetLinearSolver(ida, solver, A) ||
        (banded && IDASetJacFn(ida, leech_jacobian)) || IDASetStopTime(ida, until))
      fail("IDA could not be set up");
    double t = 0;
    if (IDASolve(ida, until, &t, Y, P, IDA_NORMAL) < 0) fail("IDA gave up");
    double seconds = clock_now() - began;
    if (seconds < best) best = seconds;
    IDAGetNumSteps(ida, &steps), IDAGetNumResEvals(ida, &residuals), IDAGetNumJacEvals(ida, &jacobians);
    for (int i = 0; i < n; i++) q[i] = y[place_q[i]], v[i] = y[place_v[i]];
    IDAFree(&ida);
  }
  printf("%.9g %ld %ld %ld", best, steps, residuals, jacobians);
  for (int i = 0; i < n; i++) printf(" %.17g", q[i]);
  for (int i = 0; i < n; i++) printf(" %.17g", v[i]);
  printf("\n");
  return 0;
}
