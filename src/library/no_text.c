/* A build without the front end: compiled code calls the functions. SPDX-License-Identifier: Apache-2.0 */
#include "library/text.h"

const math_text math_texts[] = {{NULL, NULL, 0}};
