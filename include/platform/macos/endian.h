/* SPDX-License-Identifier: Apache-2.0 */
/* Byte order functions: every supported Mac stores the low byte first. */
#ifndef PLATFORM_ENDIAN_H
#define PLATFORM_ENDIAN_H

#define le64toh(value) (value)

#endif
