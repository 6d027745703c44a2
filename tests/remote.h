/* Devices of the tests' own: the interpreter behind memory that only it reaches. SPDX-License-Identifier: Apache-2.0
 *
 * Nothing happens until somebody waits: launches, writes and fills stand in a queue. In between the device's memory is
 * protected, so that a look at it from the host is a crash. "remote" has graphs, "plain" has none. */
#ifndef TESTS_REMOTE_H
#define TESTS_REMOTE_H

#include "device/device.h"

extern const rt_device_table remote_device, plain_device;

#endif
