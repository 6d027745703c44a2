/* Two pictures: a curve over numbers of steps, and rows of stick figures. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef EXAMPLES_SVG_H
#define EXAMPLES_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* A picture of width x height units of the scene, 1 unit = scale pixels, with its origin at (left,
 * bottom). y grows upwards. */
typedef struct svg {
    FILE *file;
    double left, bottom, width, height, scale;
} svg;

bool svg_open(svg *s, const char *path, double left, double bottom, double width, double height,
              double scale);
void svg_line(svg *s, double x0, double y0, double x1, double y1, const char *colour,
              double thickness, double opacity);
void svg_dot(svg *s, double x, double y, double radius, const char *colour, double opacity);
void svg_path(svg *s, int count, const double *x, const double *y, const char *colour,
              double thickness, const char *fill);
void svg_text(svg *s, double x, double y, double size, const char *text);
/* false: something could not be written */
bool svg_close(svg *s);

/* The curve of `count` values as a picture of its own. */
bool svg_curve(const char *path, const char *title, int count, const double *values);

#endif
