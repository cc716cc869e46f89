/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD that lets calls fail: calls that allocate, map,
 * read, write, sync, rename, open, accept, create threads and take random
 * bytes. Calls made by the C library itself (stdio) are tested with strace
 * instead. FAULT_FILE contains three numbers of 64 bits, shared with the test:
 * whether calls may fail (1), calls so far, failures so far. FAULT_AT=N: the
 * N-th call fails; FAULT_EVERY=N: each call fails with a chance of one in N, by
 * the seed FAULT_SEED. FAULT_ALLOCATE=0: allocations never fail; 2: only
 * allocations fail. Allocations of some libraries never fail: without memory,
 * libtasn1 writes to NULL, GMP aborts, and libseccomp frees twice.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);

static uint64_t *shared; /* whether calls may fail; calls; failures */
static uint64_t at, every, seed;
static bool allocate = true, others = true;

static void *mapped(void *at_address, size_t size, int protection, int flags,
		    int fd, off_t from)
{
	return (void *)syscall(SYS_mmap, at_address, size, protection, flags,
			       fd, from);
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_FILE");
	const char *memory = getenv("FAULT_ALLOCATE");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
				     O_RDWR | O_CLOEXEC)
		      : -1;
	void *map = fd < 0 ? MAP_FAILED
			   : mapped(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_SHARED, fd, 0);

	at = number("FAULT_AT");
	every = number("FAULT_EVERY");
	seed = number("FAULT_SEED");
	allocate = !memory || *memory != '0';
	others = !memory || *memory != '2';
	if (map != MAP_FAILED)
		shared = map;
	if (fd >= 0)
		close(fd);
}

static bool is_excepted(const void *caller)
{
	static const char *const names[] = {"libgnutls",  "libtasn1",
					    "libgmp",	  "libnettle",
					    "libhogweed", "libseccomp"};
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(info.dli_fname, names[i]))
			return true;
	return false;
}

/* True if this call must fail; errno is then set to error. caller is the
 * address of the caller of an allocation, and NULL for other calls. */
static bool fails(int error, const void *caller)
{
	uint64_t call, x;

	if (!shared || !__atomic_load_n(&shared[0], __ATOMIC_RELAXED))
		return false;
	if (caller ? !allocate : !others)
		return false;
	call = __atomic_add_fetch(&shared[1], 1, __ATOMIC_RELAXED);
	x = (call ^ seed << 32) * 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	x ^= x >> 32;
	if ((call != at && (!every || x % every)) ||
	    (caller && is_excepted(caller)))
		return false;
	__atomic_add_fetch(&shared[2], 1, __ATOMIC_RELAXED);
	errno = error;
	return true;
}

void *malloc(size_t size)
{
	return fails(ENOMEM, __builtin_return_address(0)) ? NULL
							  : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(ENOMEM, __builtin_return_address(0))
		       ? NULL
		       : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	return fails(ENOMEM, __builtin_return_address(0))
		       ? NULL
		       : __libc_realloc(memory, size);
}

ssize_t read(int fd, void *out, size_t size)
{
	return fails(EIO, NULL) ? -1 : syscall(SYS_read, fd, out, size);
}

ssize_t pread(int fd, void *out, size_t size, off_t from)
{
	return fails(EIO, NULL) ? -1
				: syscall(SYS_pread64, fd, out, size, from);
}

/*
 * Fails in two ways: half of the data is written, so that the caller has to
 * write the rest, or none with ENOSPC.
 */
ssize_t write(int fd, const void *data, size_t size)
{
	if (fails(ENOSPC, NULL))
		return size < 2 ? -1 : syscall(SYS_write, fd, data, size / 2);
	return fails(ENOSPC, NULL) ? -1 : syscall(SYS_write, fd, data, size);
}

int fsync(int fd)
{
	return fails(EIO, NULL) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return fails(EIO, NULL) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
	return fails(EIO, NULL) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to,
	      unsigned flags)
{
	return fails(EIO, NULL) ? -1
				: (int)syscall(SYS_renameat2, from_fd, from,
					       to_fd, to, flags);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return openat(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return fails(EMFILE, NULL)
		       ? -1
		       : (int)syscall(SYS_openat, folder, path, flags, mode);
}

void *mmap(void *at_address, size_t size, int protection, int flags, int fd,
	   off_t from)
{
	return fails(ENOMEM, __builtin_return_address(0))
		       ? MAP_FAILED
		       : mapped(at_address, size, protection, flags, fd, from);
}

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
	return fails(EAGAIN, NULL) ? -1
				   : syscall(SYS_getrandom, out, size, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void *context)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		      void *);

	if (fails(EAGAIN, NULL))
		return EAGAIN;
	create = (__typeof__(create))dlsym(RTLD_NEXT, "pthread_create");
	return create(thread, attributes, run, context);
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	return fails(EMFILE, NULL)
		       ? -1
		       : (int)syscall(SYS_accept4, fd, address, len, flags);
}

ssize_t recv(int fd, void *out, size_t size, int flags)
{
	return fails(ECONNRESET, NULL)
		       ? -1
		       : syscall(SYS_recvfrom, fd, out, size, flags, 0, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return fails(ECONNRESET, NULL)
		       ? -1
		       : syscall(SYS_sendmsg, fd, message, flags);
}
