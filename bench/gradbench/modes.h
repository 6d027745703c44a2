/* What gradbench does besides answering. SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADBENCH_MODES_H
#define GRADBENCH_MODES_H

#include "evals.h"

/* Both return an exit status. */

/* Compares with the golden outputs below the folder, a line for each. */
int compare_all(const char *folder);
/* The table of ratios, derivative over primal, of one eval or (NULL) all. Inputs are
 * FOLDER/inputs/NAME_m.json, or made ones of that size where folder is NULL. */
int ratios_all(const char *folder, const char *only);

#endif
