/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installs a seccomp filter, built with libseccomp (0.3 ms) from a table of
 * permitted calls. Any other call raises SIGSYS in the calling thread, whose
 * handler logs the call and lets it fail with EPERM: a defect of gpugated is
 * logged and affects only that call, and an attacker gains nothing.
 *
 * Some calls are permitted depending on one argument: opening files for
 * reading, memory that is not executable, reading of limits. The filter cannot
 * follow pointers, so openat2() and clone3() are rejected entirely.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "webhook/observe/log_internal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Value from the kernel's headers; the C library lacks it. */
#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1
#endif

/* The handler sets a register, so it exists only for these architectures. */
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(SANITIZED)
#define FILTERS 1
#endif

/* --- before there are threads --------------------------------------------- */

static int keep_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[2], data[2] = {{0}};

	if (syscall(SYS_capget, &header, now))
		return -1;
	data[0].permitted = data[0].effective = now[0].permitted & kept;
	return (int)syscall(SYS_capset, &header, data);
}

int sandbox_prepare(struct err *err)
{
	struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_CORE, &none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return err_set(err, errno, "cannot drop privileges: %s",
			       strerror(errno));
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    keep_capabilities(1u << CAP_NET_BIND_SERVICE))
		return err_set(err, errno, "cannot drop capabilities: %s",
			       strerror(errno));
	return 0;
}

bool sandbox_available(void)
{
#ifdef FILTERS
	return true;
#else
	return false;
#endif
}

#ifdef FILTERS

/* --- the table ------------------------------------------------------------ */

struct grant {
	int call;
	unsigned argument; /* number of the argument that is checked */
	/* The argument's bits under the mask must have the value. */
	uint64_t mask, value;
};

#define ANY(name)                                                              \
	{                                                                      \
		SCMP_SYS(name), 0, 0, 0                                        \
	}

/* Calls that are permitted. A call that the architecture lacks is left out. */
static const struct grant grants[] = {
	ANY(futex),
	ANY(epoll_wait),
	ANY(recvfrom),
	ANY(sendto),
	ANY(sendmsg),
	ANY(recvmsg),
	ANY(read),
	ANY(write),
	ANY(writev),
	ANY(epoll_ctl),
	ANY(epoll_pwait),
	ANY(accept4),
	ANY(accept),
	ANY(close),
	ANY(shutdown),
	ANY(setsockopt),
	ANY(getsockopt),
	ANY(getsockname),
	ANY(getpeername),
	ANY(fcntl),
	ANY(poll),
	ANY(ppoll),
	ANY(select),
	ANY(pselect6),
	ANY(getrandom),
	ANY(clock_gettime),
	ANY(gettimeofday),
	ANY(time),
	ANY(getcpu),
	ANY(sched_yield),
	ANY(sched_getaffinity),
	ANY(nanosleep),
	ANY(clock_nanosleep),
	ANY(restart_syscall),
	/* Memory; never executable. */
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	ANY(munmap),
	ANY(mremap),
	ANY(madvise),
	ANY(brk),
	/* Files; never for writing. */
	{SCMP_SYS(openat), 2,
	 O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 0},
	ANY(fstat),
	ANY(newfstatat),
	ANY(statx),
	ANY(lseek),
	ANY(pread64),
	ANY(readv),
	ANY(getdents64),
	ANY(readlink),
	ANY(readlinkat),
	ANY(faccessat),
	ANY(getcwd),
	/* The process itself. */
	ANY(rt_sigaction),
	ANY(rt_sigprocmask),
	ANY(rt_sigreturn),
	ANY(sigaltstack),
	ANY(getpid),
	ANY(gettid),
	ANY(getuid),
	ANY(geteuid),
	ANY(getgid),
	ANY(getegid),
	ANY(uname),
	ANY(sysinfo),
	ANY(getrusage),
	ANY(membarrier),
	/* Setting a limit requires a pointer here; reading one passes NULL. */
	{SCMP_SYS(prlimit64), 2, UINT64_MAX, 0},
	/* Permits new threads to set their names. */
	{SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME},
	ANY(set_robust_list),
	ANY(rseq),
	ANY(exit),
	ANY(exit_group),
};

/* Calls that libcurl and the resolver make for each new connection. clone() is
 * permitted only with the flags of pthread_create(), so it can start threads,
 * but not processes. */
static const struct grant client_grants[] = {
	ANY(socket),   ANY(socketpair),
	ANY(connect),  ANY(bind),
	ANY(sendmmsg), {SCMP_SYS(clone), 0, UINT32_MAX, 0x3d0f00},
};

/* --- the filter ----------------------------------------------------------- */

static int allow_calls(scmp_filter_ctx filter, const struct grant *list,
		       size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct grant *g = &list[i];
		const struct scmp_arg_cmp asked = {
			g->argument, SCMP_CMP_MASKED_EQ, g->mask, g->value};

		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, g->call,
					    g->mask != 0, &asked);
	}
	return rc;
}

/* Adds all rules to the filter. glibc tries clone3() first, whose flags cannot
 * be checked, and calls clone() if clone3() is missing. Returns 0, or a
 * negative errno. */
static int fill(scmp_filter_ctx filter, bool client)
{
	enum { TREE = 2 };
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
				      SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, TREE);
	if (!rc)
		rc = allow_calls(filter, grants, ARRAY_SIZE(grants));
	if (rc || !client)
		return rc;
	rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3),
			      0);
	return rc ? rc
		  : allow_calls(filter, client_grants,
				ARRAY_SIZE(client_grants));
}

/* --- rejected calls ------------------------------------------------------- */

/* Globals, because a signal handler can read nothing else. The first two are
 * written before the filter is installed. */
static _Atomic int report_fd = -1;
static _Atomic bool report_json;
static _Atomic unsigned reports;

enum { MOST_REPORTS = 20 };

static const char *call_name(int call)
{
	static const struct {
		int call;
		const char *name;
	} names[] = {
		{SYS_execve, "execve"},	  {SYS_execveat, "execveat"},
		{SYS_openat, "openat"},	  {SYS_socket, "socket"},
		{SYS_connect, "connect"}, {SYS_bind, "bind"},
		{SYS_clone, "clone"},	  {SYS_clone3, "clone3"},
		{SYS_mmap, "mmap"},	  {SYS_mprotect, "mprotect"},
		{SYS_kill, "kill"},	  {SYS_tgkill, "tgkill"},
		{SYS_ptrace, "ptrace"},	  {SYS_prlimit64, "prlimit64"},
		{SYS_ioctl, "ioctl"},	  {SYS_unlinkat, "unlinkat"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].call == call)
			return names[i].name;
	return NULL;
}

static void report(int call)
{
	struct log_line line;
	ssize_t ignored;

	if (atomic_fetch_add(&reports, 1) >= MOST_REPORTS)
		return;
	line_begin(&line, report_json, LOG_ERROR,
		   "the sandbox rejected a system call");
	line_text(&line, "call", call_name(call), 32);
	line_int(&line, "number", call);
	line_end(&line);
	ignored = write(report_fd, line.text, line.len);
	(void)ignored;
}

/*
 * Handles SIGSYS. The filter raises the signal in the thread that made the
 * call, so only that call is interrupted.
 */
static void report_denied_call(int number, siginfo_t *info, void *context)
{
	ucontext_t *registers = context;
	int saved = errno;

	/* If another process has sent the signal, no call was rejected. */
	if (info->si_code != SYS_SECCOMP)
		return;
	report(info->si_syscall);
#if defined(__x86_64__)
	registers->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	registers->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
	errno = saved;
}

int sandbox_enter(int log_fd, bool json, bool client, struct err *err)
{
	struct sigaction action = {.sa_sigaction = report_denied_call,
				   .sa_flags = SA_SIGINFO | SA_NODEFER};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int rc = filter ? fill(filter, client) : -ENOMEM;

	report_fd = log_fd;
	report_json = json;
	if (!rc && (sigaction(SIGSYS, &action, NULL) || keep_capabilities(0)))
		rc = -errno;
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc ? err_set(err, -rc, "no system call filter: %s",
			    strerror(-rc))
		  : 0;
}

#else

int sandbox_enter(int log_fd, bool json, bool client, struct err *err)
{
	return err_set(err, 0, "this build has no system call filter");
}

#endif
