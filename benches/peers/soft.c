/* The soft cylinder of the scene soft-bounce as ordinary differential equations, with a fixed quadrature of the contact field.
 * y = (x, z, F by rows, and their rates). Compiled by soft.py. */
#include <math.h>

static double radius = 0.5, density = 4000, modulus = 6e4, viscosity, gravity = 9.81, alpha;
static int points;
static double cosine[4096], sine[4096];

void setup(double coefficient, double mu, int n) {
    alpha = coefficient;
    viscosity = mu;
    points = n;
    for (int k = 0; k < n; k++) {
        cosine[k] = cos(2 * M_PI * k / n);
        sine[k] = sin(2 * M_PI * k / n);
    }
}

void rates(const double *y, double *out) {
    const double *f = y + 2, *v = y + 6, *g = y + 8;
    double volume = M_PI * radius * radius, mass = density * volume, euler = mass * radius * radius / 4;
    double push = 0, one = 0, two = 0;
    for (int k = 0; k < points; k++) {
        double d = y[1] + radius * (f[2] * cosine[k] + f[3] * sine[k]);
        double i = 1 / d, i2 = i * i, i4 = i2 * i2, q = i4 * i4;
        push += q;
        one += q * cosine[k];
        two += q * sine[k];
    }
    double weight = alpha * 2 * M_PI * radius / points;
    push *= weight;
    one *= weight * radius;
    two *= weight * radius;
    /* S = 2 c F + mu sym(L) F^-T, L = F' F^-1 */
    double det = f[0] * f[3] - f[1] * f[2];
    double back[4] = {f[3] / det, -f[1] / det, -f[2] / det, f[0] / det};
    double l[4] = {g[0] * back[0] + g[1] * back[2], g[0] * back[1] + g[1] * back[3], g[2] * back[0] + g[3] * back[2],
                   g[2] * back[1] + g[3] * back[3]};
    double shear = 0.5 * (l[1] + l[2]);
    double s[4] = {2 * modulus * f[0] + viscosity * (l[0] * back[0] + shear * back[1]),
                   2 * modulus * f[1] + viscosity * (l[0] * back[2] + shear * back[3]),
                   2 * modulus * f[2] + viscosity * (shear * back[0] + l[3] * back[1]),
                   2 * modulus * f[3] + viscosity * (shear * back[2] + l[3] * back[3])};
    double a[4] = {-s[0] * volume / euler, -s[1] * volume / euler, (one - s[2] * volume) / euler, (two - s[3] * volume) / euler};
    double cof[4] = {f[3], -f[2], -f[1], f[0]};
    double along = 0, size = 0;
    for (int i = 0; i < 4; i++) {
        along += cof[i] * a[i];
        size += cof[i] * cof[i];
    }
    double need = (-2 * (g[0] * g[3] - g[1] * g[2]) - along) / size;
    for (int i = 0; i < 6; i++) out[i] = v[i];
    out[6] = 0;
    out[7] = push / mass - gravity;
    for (int i = 0; i < 4; i++) out[8 + i] = a[i] + need * cof[i];
}
