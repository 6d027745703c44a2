/* A rank's part of a wave field: all that is asked of Retrograd. The states of all steps are kept, for the way back.
 * Every function ends the program with a message if it fails. SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_MPI_PART_H
#define EXAMPLES_MPI_PART_H

typedef struct part part;

/* States 0 to states - 1 of rows x cols cells; receivers at (row, col), rows counted from 1. */
part *part_create(const char *device, const char *kernels, int states, int rows, int cols, int receivers, const int *row,
                  const int *col);
void part_destroy(part *p);

void part_set_speed(part *p, const double *c);             /* [rows][cols] */
void part_set_state(part *p, int t, const double *u);      /* [rows + 2][cols] */

/* State t + 1 from those of t and t - 1; rows 0 and rows + 1 of it are the neighbours' to give. */
void part_step(part *p, int t);
/* Two rows of the host's: those that neighbours need of state t, or, with `back`, what state t owes them: the adjoints of the
 * rows that came from them. Valid until the rows of the neighbours are given. */
const double *part_take(part *p, int t, int back);
/* Where to put the neighbours' two rows; `part_given` then puts them beside state t, or, with `back`, adds their adjoints. */
double *part_room(part *p, int back);
void part_given(part *p, int t, int back);

void part_hear(part *p, int t, double *heard);             /* [receivers] */
/* Adds to the loss; the same backwards, after the adjoint of the loss became 1 in part_begin_back. */
void part_compare(part *p, int t, const double *truth);
double part_loss(part *p);
void part_clear(part *p);                                  /* loss and adjoints: 0 */
void part_begin_back(part *p);
void part_compare_back(part *p, int t, const double *truth);
void part_step_back(part *p, int t);

void part_speed_gradient(part *p, double *gradient);            /* [rows][cols] */
void part_state_gradient(part *p, int t, double *gradient);     /* [rows + 2][cols] */

#endif
