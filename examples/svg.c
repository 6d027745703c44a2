/* See svg.h. SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include <math.h>
#include <stdlib.h>

static double
across(const svg *s, double x)
{
    return (x - s->left) * s->scale;
}

static double
down(const svg *s, double y)
{
    return (s->height - (y - s->bottom)) * s->scale;
}

bool
svg_open(svg *s, const char *path, double left, double bottom, double width, double height,
         double scale)
{
    *s = (svg){fopen(path, "w"), left, bottom, width, height, scale};
    if (!s->file)
        return false;
    fprintf(s->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf7\"/>\n",
            width * scale, height * scale);
    return true;
}

void
svg_line(svg *s, double x0, double y0, double x1, double y1, const char *colour, double thickness,
         double opacity)
{
    fprintf(
        s->file,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\" "
        "stroke-opacity=\"%.2f\" stroke-linecap=\"round\"/>\n",
        across(s, x0), down(s, y0), across(s, x1), down(s, y1), colour, thickness, opacity);
}

void
svg_dot(svg *s, double x, double y, double radius, const char *colour, double opacity)
{
    fprintf(s->file,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"%.2f\"/>\n",
            across(s, x), down(s, y), radius, colour, opacity);
}

void
svg_path(svg *s, int count, const double *x, const double *y, const char *colour, double thickness,
         const char *fill)
{
    fprintf(s->file, "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"%.1f\" d=\"", fill, colour,
            thickness);
    for (int i = 0; i < count; i++)
        fprintf(s->file, "%c%.1f %.1f", i ? 'L' : 'M', across(s, x[i]), down(s, y[i]));
    fprintf(s->file, "\"/>\n");
}

void
svg_text(svg *s, double x, double y, double size, const char *text)
{
    fprintf(s->file,
            "<text x=\"%.1f\" y=\"%.1f\" font-family=\"sans-serif\" font-size=\"%.0f\" "
            "fill=\"#333\">%s</text>\n",
            across(s, x), down(s, y), size, text);
}

bool
svg_close(svg *s)
{
    fprintf(s->file, "</svg>\n");
    bool good = !ferror(s->file);
    return fclose(s->file) == 0 && good;
}

bool
svg_curve(const char *path, const char *title, int count, const double *values)
{
    svg s;
    char label[64];
    double low = values[0], high = values[0];
    double *x = malloc(sizeof *x * (size_t)count), *y = malloc(sizeof *y * (size_t)count);
    for (int i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    double range = high > low ? high - low : 1.0;
    for (int i = 0; i < count; i++) {
        x[i] = count > 1 ? (double)i / (count - 1) : 0.0;
        y[i] = 0.5 * (values[i] - low) / range;
    }
    bool good = x && y && svg_open(&s, path, -0.12, -0.08, 1.17, 0.68, 640.0);
    if (good) {
        svg_line(&s, 0.0, 0.0, 1.0, 0.0, "#999", 1.0, 1.0);
        svg_line(&s, 0.0, 0.0, 0.0, 0.5, "#999", 1.0, 1.0);
        svg_path(&s, count, x, y, "#c0392b", 2.0, "none");
        svg_text(&s, 0.0, 0.54, 16.0, title);
        snprintf(label, sizeof label, "%.3f", high);
        svg_text(&s, -0.1, 0.49, 13.0, label);
        snprintf(label, sizeof label, "%.3f", low);
        svg_text(&s, -0.1, 0.0, 13.0, label);
        snprintf(label, sizeof label, "%d steps of descent", count - 1);
        svg_text(&s, 0.76, -0.05, 13.0, label);
        good = svg_close(&s);
    }
    free(x);
    free(y);
    return good;
}
