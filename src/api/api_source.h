/* The C front end behind the cache. SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SOURCE_H
#define API_SOURCE_H

#include "front/c/front_c.h"

/* front_c_compile and front_c_list, or what they gave before for the same text, options and files. `text` is set. */
ir_module *api_source_compile(const front_c_source *source, diag_list *diags);
bool api_source_list(const front_c_source *source, front_c_names *names, diag_list *diags);

#endif
