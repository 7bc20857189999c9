/* Faults below a program: preloaded, it stands between the program and the kernel for every call that changes the files
 * under one folder, and can count the calls, stop the process at the nth, tear the nth write, make calls fail, or record
 * them all with their data. tests/store/shim.py builds it and speaks to it.
 *
 * Calls on files elsewhere pass untouched. The kernel is called directly (syscall), so nothing here can call itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Kinds of calls, as bits of a mask; the numbers are also those of the recorded log. */
enum { READ = 1, CREATE = 2, WRITE = 4, SYNC = 8, TRUNCATE = 16, RENAME = 32, UNLINK = 64, LINK = 128, MKDIR = 256, RMDIR = 512, MARK = 1024, SYNC_FOLDER = 2048 };

/* What to do at the nth call whose kind is in the mask. */
enum { NOTHING, KILL, TEAR, FAIL, FAIL_FROM };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* held during a watched call, so the log has the kernel's order */
static char root[PATH_MAX];
static size_t root_length;
static int action, mask, error, log_fd = -1; /* a log is kept as long as there is a file for it */
static long nth, seen, hits;

/* ---- what Python calls ---- */

void faults_watch(const char *folder) {
    strncpy(root, folder, sizeof root - 1);
    root_length = strlen(root);
}

void faults_arm(int new_action, int new_mask, long new_nth, int new_error) {
    pthread_mutex_lock(&turn);
    mask = new_mask, nth = new_nth, error = new_error, seen = hits = 0, action = new_action;
    pthread_mutex_unlock(&turn);
}

void faults_record(int fd) { log_fd = fd; }

long faults_seen(void) { return seen; }
long faults_hits(void) { return hits; }

/* ---- which calls are watched ---- */

static int inside(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static int fd_path(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = 0;
    return length > 0;
}

/* The absolute path of what a call names; a path that starts at the root folder of the system is taken as it is. */
static int full_path(int at, const char *path, char *out) {
    char folder[PATH_MAX];
    if (path[0] == '/') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    if (at == AT_FDCWD ? !getcwd(folder, sizeof folder) : !fd_path(at, folder)) return 0;
    return snprintf(out, PATH_MAX, "%s/%s", folder, path) < PATH_MAX;
}

static int watched_fd(int fd) {
    char path[PATH_MAX];
    return (action || log_fd >= 0) && root_length && fd_path(fd, path) && inside(path);
}

static int watched_path(int at, const char *path, char *out) {
    return (action || log_fd >= 0) && root_length && full_path(at, path, out) && inside(out);
}

/* ---- the log: kind, inode, offset or size, lengths of two byte strings, the strings ---- */

struct __attribute__((packed)) entry { uint16_t kind; uint64_t inode; int64_t number; uint32_t first, second; };

static void put(const void *data, size_t length) {
    for (const char *p = data; length;) {
        long done = syscall(SYS_write, log_fd, p, length);
        if (done <= 0) syscall(SYS_exit_group, 99);
        p += done, length -= done;
    }
}

static void note(int kind, uint64_t inode, int64_t number, const void *first, size_t n, const void *second, size_t m) {
    struct entry entry = {kind, inode, number, n, m};
    put(&entry, sizeof entry), put(first, n), put(second, m);
}

static void note_path(int kind, uint64_t inode, const char *first, const char *second) {
    note(kind, inode, 0, first, strlen(first), second, second ? strlen(second) : 0);
}

static uint64_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) ? 0 : status.st_ino;
}

void faults_mark(long number) {
    if (log_fd >= 0) note(MARK, 0, number, "", 0, "", 0);
}

/* ---- the fault itself: 0 when the call may go on, else -1 with errno, or no return at all ---- */

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static int strike(int kind) {
    if (!(kind & mask) || !action) return 0;
    seen++;
    if (seen < nth || (seen > nth && action != FAIL_FROM) || !nth) return 0;
    hits++;
    if (action == KILL) die();
    if (action == TEAR) return 0;
    errno = error;
    return -1;
}

/* Half of a write reaches the file: a torn one before a kill, a short one when the disk is just full. */
static int halves(void) { return hits == 1 && seen == nth && (action == TEAR || (action == FAIL_FROM && error == ENOSPC)); }

static ssize_t store(int fd, const void *data, size_t length, off_t offset) { /* offset -1: where the file stands */
    return offset < 0 ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
}

static ssize_t watched_write(int fd, const void *data, size_t length, off_t offset) {
    off_t place = offset;
    if (place < 0) place = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
    int refused = strike(WRITE);
    if (halves() && (mask & WRITE)) {
        ssize_t done = length > 1 ? store(fd, data, length / 2, offset) : -1;
        if (action == TEAR) die();
        if (log_fd >= 0 && done > 0) note(WRITE, inode_of(fd), place, data, done, "", 0);
        if (done >= 0) return done;
        errno = error;
        return -1;
    }
    if (refused) return -1;
    ssize_t done = store(fd, data, length, offset);
    if (log_fd >= 0 && done > 0) note(WRITE, inode_of(fd), place, data, done, "", 0);
    return done;
}

static ssize_t any_write(int fd, const void *data, size_t length, off_t offset) {
    if (!watched_fd(fd)) return store(fd, data, length, offset);
    pthread_mutex_lock(&turn);
    ssize_t done = watched_write(fd, data, length, offset);
    pthread_mutex_unlock(&turn);
    return done;
}

/* A call that either happens or does not: strike, do, note. */
#define GUARDED(watched, kind, call, record)                 \
    if (!(watched)) return call;                             \
    pthread_mutex_lock(&turn);                               \
    long result = strike(kind) ? -1 : call;                  \
    if (log_fd >= 0 && result >= 0) { record; }              \
    pthread_mutex_unlock(&turn);                             \
    return result

/* ---- the calls ---- */

ssize_t write(int fd, const void *data, size_t length) { return any_write(fd, data, length, -1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return any_write(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return any_write(fd, data, length, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) { /* one part at a time: a short write is a legal answer */
    if (!watched_fd(fd)) return syscall(SYS_writev, fd, parts, count);
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) return write(fd, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

ssize_t read(int fd, void *data, size_t length) {
    GUARDED(watched_fd(fd), READ, syscall(SYS_read, fd, data, length), );
}
ssize_t pread(int fd, void *data, size_t length, off_t offset) {
    GUARDED(watched_fd(fd), READ, syscall(SYS_pread64, fd, data, length, offset), );
}
ssize_t pread64(int fd, void *data, size_t length, off_t offset) { return pread(fd, data, length, offset); }

static int sync_kind(int fd) {
    struct stat status;
    return !fstat(fd, &status) && S_ISDIR(status.st_mode) ? SYNC_FOLDER : SYNC;
}
int fsync(int fd) {
    GUARDED(watched_fd(fd), sync_kind(fd), syscall(SYS_fsync, fd), note(SYNC, inode_of(fd), 0, "", 0, "", 0));
}
int fdatasync(int fd) {
    GUARDED(watched_fd(fd), sync_kind(fd), syscall(SYS_fdatasync, fd), note(SYNC, inode_of(fd), 0, "", 0, "", 0));
}

int ftruncate(int fd, off_t size) {
    GUARDED(watched_fd(fd), TRUNCATE, syscall(SYS_ftruncate, fd, size), note(TRUNCATE, inode_of(fd), size, "", 0, "", 0));
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int renameat(int at1, const char *from, int at2, const char *to) {
    char path1[PATH_MAX], path2[PATH_MAX];
    int watched = watched_path(at1, from, path1) | watched_path(at2, to, path2);
    GUARDED(watched, RENAME, syscall(SYS_renameat2, at1, from, at2, to, 0), note_path(RENAME, 0, path1, path2));
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int at1, const char *from, int at2, const char *to, int flags) {
    char path1[PATH_MAX], path2[PATH_MAX];
    int watched = watched_path(at1, from, path1) | watched_path(at2, to, path2);
    GUARDED(watched, LINK, syscall(SYS_linkat, at1, from, at2, to, flags), note_path(LINK, 0, path1, path2));
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int at, const char *name, int flags) {
    char path[PATH_MAX];
    int kind = flags & AT_REMOVEDIR ? RMDIR : UNLINK;
    GUARDED(watched_path(at, name, path), kind, syscall(SYS_unlinkat, at, name, flags), note_path(kind, 0, path, ""));
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

static void note_folder(const char *path) {
    struct stat status;
    if (!stat(path, &status)) note_path(MKDIR, status.st_ino, path, "");
}
int mkdirat(int at, const char *name, mode_t mode) {
    char path[PATH_MAX];
    GUARDED(watched_path(at, name, path), MKDIR, syscall(SYS_mkdirat, at, name, mode), note_folder(path));
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

/* Opening is a change when it makes a file or empties one, else only a look. */
static int open_at(int at, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat before;
    int watched = watched_path(at, name, path), existed = watched && !stat(path, &before);
    int kind = !existed && flags & O_CREAT ? CREATE : flags & O_TRUNC && existed && before.st_size ? TRUNCATE : READ;
    GUARDED(watched, kind, syscall(SYS_openat, at, name, flags | O_LARGEFILE, mode), 
        if (kind == CREATE) note_path(CREATE, inode_of(result), path, "");
        if (kind == TRUNCATE) note(TRUNCATE, before.st_ino, 0, "", 0, "", 0));
}

#define WITH_MODE(last) mode_t mode = 0; if (flags & O_CREAT) { va_list rest; va_start(rest, last); mode = va_arg(rest, mode_t); va_end(rest); }
int open(const char *path, int flags, ...) { WITH_MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { WITH_MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { WITH_MODE(flags) return open_at(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { WITH_MODE(flags) return open_at(at, path, flags, mode); }

/* Ways to fill a file that would pass unseen are refused; programs then fall back on the calls above. */
ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
    if (watched_fd(out)) { errno = ENOSYS; return -1; }
    return syscall(SYS_sendfile, out, in, offset, count);
}
ssize_t sendfile64(int out, int in, off_t *offset, size_t count) { return sendfile(out, in, offset, count); }
ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t count, unsigned flags) {
    if (watched_fd(out)) { errno = ENOSYS; return -1; }
    return syscall(SYS_copy_file_range, in, from, out, to, count, flags);
}
