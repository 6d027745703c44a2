/* A build without the front end: compiled code calls the functions. SPDX-License-Identifier: Apache-2.0 */
#include "math/text.h"

const unsigned char math_text[1] = {0};
const size_t math_text_size = 0;
