/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter out of a table (seccomp(2), bpf: struct seccomp_data). It
 * lists what is granted; everything else raises SIGSYS in the calling thread,
 * whose handler writes a line and lets the call fail with EPERM: a bug of
 * ours degrades and is seen, a stranger gets nothing.
 *
 * Some calls are granted by one argument: files for reading only, memory that
 * is not executable, limits that are read and not set. The filter cannot
 * follow pointers, so openat2() and clone3() are refused as a whole.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "log_state.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
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
		return err_set(err, errno, "cannot give up privileges: %s",
			       strerror(errno));
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    keep_capabilities(1u << CAP_NET_BIND_SERVICE))
		return err_set(err, errno, "cannot drop capabilities: %s",
			       strerror(errno));
	return 0;
}

bool sandbox_available(void)
{
#if defined(OUR_ARCH) && !defined(SANITIZED)
	return true;
#else
	return false;
#endif
}

#if defined(OUR_ARCH) && !defined(SANITIZED)

/* --- the table ------------------------------------------------------------ */

enum ask { WHATEVER, ZERO_BITS, NO_POINTER, EQUALS };

struct grant {
	int call;
	enum ask ask;
	int argument; /* the one that is asked about */
	uint32_t bits;
};

#define ANY(name)                                                              \
	{                                                                      \
		SYS_##name, WHATEVER, 0, 0                                     \
	}

static const struct grant grants[] = {
	/* what each review needs comes first: the filter is a list */
	ANY(futex),
#ifdef SYS_epoll_wait
	ANY(epoll_wait),
#endif
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
#ifdef SYS_poll
	ANY(poll),
#endif
	ANY(ppoll),
#ifdef SYS_select
	ANY(select),
#endif
	ANY(pselect6),
	ANY(getrandom),
	ANY(clock_gettime),
	ANY(gettimeofday),
#ifdef SYS_time
	ANY(time),
#endif
	ANY(getcpu),
	ANY(sched_yield),
	ANY(sched_getaffinity),
	ANY(nanosleep),
	ANY(clock_nanosleep),
	ANY(restart_syscall),
	/* memory; never executable */
	{SYS_mmap, ZERO_BITS, 2, PROT_EXEC},
	{SYS_mprotect, ZERO_BITS, 2, PROT_EXEC},
	ANY(munmap),
	ANY(mremap),
	ANY(madvise),
	ANY(brk),
	/* files; never for writing */
	{SYS_openat, ZERO_BITS, 2,
	 O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)},
	ANY(fstat),
	ANY(newfstatat),
	ANY(statx),
	ANY(lseek),
	ANY(pread64),
	ANY(readv),
	ANY(getdents64),
#ifdef SYS_readlink
	ANY(readlink),
#endif
	ANY(readlinkat),
	ANY(faccessat),
	ANY(getcwd),
	ANY(inotify_add_watch),
	ANY(inotify_rm_watch),
	/* ourselves */
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
	/* setting a limit takes a pointer here; reading has none */
	{SYS_prlimit64, NO_POINTER, 2, 0xffffffff},
	/* threads that have just begun name themselves */
	{SYS_prctl, EQUALS, 0, PR_SET_NAME},
	ANY(set_robust_list),
	ANY(rseq),
	ANY(exit),
	ANY(exit_group),
};

/* What libcurl and the resolver do for each new connection. Threads, no
 * processes: the flags are those of pthread_create(). */
static const struct grant client_grants[] = {
	ANY(socket), ANY(socketpair), ANY(connect),
	ANY(bind),   ANY(sendmmsg),   {SYS_clone, EQUALS, 0, 0x3d0f00},
};

/* --- the filter ----------------------------------------------------------- */

enum {
	GRANTS = sizeof(grants) / sizeof(*grants),
	CLIENT_GRANTS = sizeof(client_grants) / sizeof(*client_grants),
	FILTER_MAX = 6 * (GRANTS + CLIENT_GRANTS) + 10,
};

struct filter {
	unsigned short n;
	struct sock_filter code[FILTER_MAX];
};

static void add(struct filter *f, uint16_t code, uint32_t k, uint8_t yes,
		uint8_t no)
{
	f->code[f->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct filter *f, size_t offset)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(struct filter *f, uint32_t action)
{
	add(f, BPF_RET | BPF_K, action, 0, 0);
}

/* Refused unless the word at offset is asked of it. */
static void add_ask(struct filter *f, size_t offset, bool equals, uint32_t bits)
{
	load(f, offset);
	if (equals)
		add(f, BPF_JMP | BPF_JEQ | BPF_K, bits, 1, 0);
	else
		add(f, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	give(f, SECCOMP_RET_TRAP);
}

/* The call's number is in the accumulator, and still is behind it. Arguments
 * are little-endian; an int has only the lower half. */
static void add_grant(struct filter *f, const struct grant *g)
{
	size_t low = offsetof(struct seccomp_data, args) +
		     sizeof(uint64_t) * (size_t)g->argument;
	unsigned short jump = f->n;

	add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)g->call, 0, 0);
	if (g->ask != WHATEVER)
		add_ask(f, low, g->ask == EQUALS, g->bits);
	if (g->ask == NO_POINTER)
		add_ask(f, low + 4, false, g->bits);
	give(f, SECCOMP_RET_ALLOW);
	f->code[jump].jf = (uint8_t)(f->n - jump - 1);
}

/* glibc asks for clone3() first, whose flags cannot be seen, and takes
 * clone() where there is none. */
static void add_client_grants(struct filter *f)
{
	for (size_t i = 0; i < CLIENT_GRANTS; i++)
		add_grant(f, &client_grants[i]);
	add(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	give(f, SECCOMP_RET_ERRNO | ENOSYS);
}

static void build(struct filter *f, bool client)
{
	f->n = 0;
	load(f, offsetof(struct seccomp_data, arch));
	add(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	give(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < GRANTS; i++)
		add_grant(f, &grants[i]);
	if (client)
		add_client_grants(f);
	give(f, SECCOMP_RET_TRAP);
}

/* --- what is refused ------------------------------------------------------ */

/* A signal handler has no other way to know. Written once, before the
 * filter. */
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

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].call == call)
			return names[i].name;
	return NULL;
}

static void report(int call)
{
	struct line line;
	ssize_t ignored;

	if (atomic_fetch_add(&reports, 1) >= MOST_REPORTS)
		return;
	line_begin(&line, report_json, LOG_ERROR,
		   "the sandbox refused a system call");
	line_text(&line, "call", call_name(call), 32);
	line_int(&line, "number", call);
	line_end(&line);
	ignored = write(report_fd, line.text, line.len);
	(void)ignored;
}

/*
 * The signal is the thread's own, raised by its call, so it interrupts no
 * other code of that thread but what made the call.
 */
static void refuse(int number, siginfo_t *info, void *context)
{
	ucontext_t *registers = context;
	int saved = errno;

	(void)number;
	report(info->si_syscall);
#if defined(__x86_64__)
	registers->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	registers->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
	errno = saved;
}

static int enter(int log_fd, bool json, bool client, struct err *err)
{
	struct sigaction action = {.sa_sigaction = refuse,
				   .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct filter filter;
	struct sock_fprog program = {.filter = filter.code};
	long thread;

	build(&filter, client);
	program.len = filter.n;
	report_fd = log_fd;
	report_json = json;
	if (sigaction(SIGSYS, &action, NULL) || keep_capabilities(0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(err, errno, "%s", strerror(errno));
	thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_TSYNC, &program);
	if (thread > 0)
		return err_set(err, 0, "thread %ld has a filter of its own",
			       thread);
	if (thread < 0)
		return err_set(err, errno, "no system call filter: %s",
			       strerror(errno));
	return 0;
}

#else

static int enter(int log_fd, bool json, bool client, struct err *err)
{
	(void)log_fd;
	(void)json;
	(void)client;
	return err_set(err, 0, "no system call filter in this build");
}

#endif

int sandbox_enter(int log_fd, bool json, struct err *err)
{
	return enter(log_fd, json, false, err);
}

int sandbox_enter_client(int log_fd, bool json, struct err *err)
{
	return enter(log_fd, json, true, err);
}
