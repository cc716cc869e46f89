/* SPDX-License-Identifier: Apache-2.0 */
/* Types of file systems, with the numbers of Linux; used only for leases. */
#ifndef PLATFORM_MAGIC_H
#define PLATFORM_MAGIC_H

#define NFS_SUPER_MAGIC	 0x6969UL
#define CIFS_SUPER_MAGIC 0xff534d42UL
#define SMB2_SUPER_MAGIC 0xfe534d42UL

#endif
