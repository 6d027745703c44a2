/* Kernels whose threads run side by side: plain C, also for other compilers. Their threads are
 * first..n, so that others can split the work. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

// kernel: sine
// args: first=0 n=4 count[4]=3,0,17,5 x[4]=0.5,1.5,2.4,3.2 y[4]=0
/* A long chain of elementary steps, each thread with its own number. */
void
sine(int first, int n, const int count[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < count[i]; t++)
            v = v + 0.001f * sinf(v);
        y[i] = v;
    }
}

// kernel: flops
// args: first=0 n=4 count[4]=3,0,17,5 x[4]=0.5,0.9,0.4,0.2 y[4]=0
/* The same of additions and multiplications. */
void
flops(int first, int n, const int count[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < count[i]; t++)
            v = v * (1.0f - 0.001f * v) + 0.001f * v;
        y[i] = v;
    }
}

// kernel: attract
// args: first=0 n=3 bodies=3 x[3]=0,0.1,0.2 y[3]=0.5,-0.4,0.3 z[3]=-0.6,0.2,-0.1 mass[3]=1,0.5,2 a[3][3]=0
/* Accelerations of all bodies by all bodies. */
void
attract(int first, int n, int bodies, const float x[bodies], const float y[bodies], const float z[bodies],
        const float mass[bodies], float a[n][3])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < bodies; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = mass[j] * inverse * inverse * inverse;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        a[i][0] = ax;
        a[i][1] = ay;
        a[i][2] = az;
    }
}

// kernel: attract64
// args: first=0 n=3 bodies=3 x[3]=0,0.1,0.2 y[3]=0.5,-0.4,0.3 z[3]=-0.6,0.2,-0.1 mass[3]=1,0.5,2 a[3][3]=0
void
attract64(int first, int n, int bodies, const double x[bodies], const double y[bodies], const double z[bodies],
          const double mass[bodies], double a[n][3])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        double ax = 0.0, ay = 0.0, az = 0.0;
        for (int j = 0; j < bodies; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
            double s = mass[j] * inverse * inverse * inverse;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        a[i][0] = ax;
        a[i][1] = ay;
        a[i][2] = az;
    }
}

// kernel: march
// args: first=0 n=2 direction[2][3]=0.1,0.05,0.99,0.02,-0.06,0.99 depth[2]=0
// args: sphere[4][4]=0.2,0.1,3.5,0.5,-0.5,0.3,3.2,0.4,0.6,-0.2,3.9,0.6,-0.1,-0.4,4.1,0.3
/* Rays marched through a smooth union of four spheres (x, y, z, radius), until they hit or leave. */
void
march(int first, int n, const float direction[n][3], const float sphere[4][4], float depth[n])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        float t = 0.0f;
        for (int step = 0; step < 128; step++) {
            float sum = 0.0f;
            for (int s = 0; s < 4; s++) {
                float dx = t * direction[i][0] - sphere[s][0];
                float dy = t * direction[i][1] - sphere[s][1];
                float dz = t * direction[i][2] - sphere[s][2];
                sum += expf(-4.0f * (sqrtf(dx * dx + dy * dy + dz * dz) - sphere[s][3]));
            }
            float distance = -0.25f * logf(sum);
            if (distance < 1e-4f)
                break;
            t += distance;
            if (t > 8.0f)
                break;
        }
        depth[i] = t;
    }
}

// kernel: march64
// args: first=0 n=2 direction[2][3]=0.1,0.05,0.99,0.02,-0.06,0.99 depth[2]=0
// args: sphere[4][4]=0.2,0.1,3.5,0.5,-0.5,0.3,3.2,0.4,0.6,-0.2,3.9,0.6,-0.1,-0.4,4.1,0.3
void
march64(int first, int n, const double direction[n][3], const double sphere[4][4], double depth[n])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        double t = 0.0;
        for (int step = 0; step < 128; step++) {
            double sum = 0.0;
            for (int s = 0; s < 4; s++) {
                double dx = t * direction[i][0] - sphere[s][0];
                double dy = t * direction[i][1] - sphere[s][1];
                double dz = t * direction[i][2] - sphere[s][2];
                sum += exp(-4.0 * (sqrt(dx * dx + dy * dy + dz * dz) - sphere[s][3]));
            }
            double distance = -0.25 * log(sum);
            if (distance < 1e-4)
                break;
            t += distance;
            if (t > 8.0)
                break;
        }
        depth[i] = t;
    }
}

/* The normal distribution, by Abramowitz and Stegun 26.2.17. */
static float
normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * p;
    return d < 0.0f ? tail : 1.0f - tail;
}

// kernel: options
// args: first=0 n=3 rate=0.02 price[3]=90,100,110 strike[3]=100,95,120 years[3]=0.5,1,2 sigma[3]=0.3,0.2,0.4
// args: value[3]=0
/* Calls by Black and Scholes. */
void
options(int first, int n, double rate, const float price[n], const float strike[n], const float years[n],
        const float sigma[n], float value[n])
{
    #pragma omp parallel for
    for (int i = first; i < n; i++) {
        float r = (float)rate, deviation = sigma[i] * sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (r + 0.5f * sigma[i] * sigma[i]) * years[i]) / deviation;
        float d2 = d1 - deviation;
        value[i] = price[i] * normal(d1) - strike[i] * expf(-r * years[i]) * normal(d2);
    }
}

// kernel: mandelbrot
// args: first=0 rows=3 height=3 columns=5 limit=20 steps[3][5]=0
void
mandelbrot(int first, int rows, int height, int columns, int limit, int steps[height][columns])
{
    #pragma omp parallel for collapse(2)
    for (int i = first; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float cx = -2.0f + 3.0f * (float)j / (float)columns, cy = -1.0f + 2.0f * (float)i / (float)height;
            float x = cx, y = cy;
            int k;
            for (k = 0; k < limit; k++) {
                float x2 = x * x, y2 = y * y;
                if (x2 + y2 > 4.0f)
                    break;
                y = 2.0f * x * y + cy;
                x = x2 - y2 + cx;
            }
            steps[i][j] = k;
        }
}
