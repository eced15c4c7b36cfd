/* A stand-in for libcuda.so.1: one device of 8 GB, whose memory is counted in a folder
   (STUB_CUDA), a file for each process that holds some. It tests our counting, not CUDA. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static const size_t TOTAL = 8000000000ull;
static size_t held;

static size_t used(void) {
    size_t sum = 0;
    DIR *folder = opendir(getenv("STUB_CUDA"));
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[4096];
        unsigned long long bytes = 0;
        pid_t pid = atoi(entry->d_name);
        if (pid <= 0) continue;
        snprintf(path, sizeof path, "%s/%d", getenv("STUB_CUDA"), pid);
        if (kill(pid, 0)) { unlink(path); continue; } /* as the driver does for the dead */
        FILE *file = fopen(path, "r");
        if (file) { if (fscanf(file, "%llu", &bytes) != 1) bytes = 0; fclose(file); }
        sum += bytes;
    }
    if (folder) closedir(folder);
    return sum;
}

int cuInit(unsigned flags) { (void)flags; return getenv("STUB_CUDA") ? 0 : 100; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return number ? 101 : 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &held; return 0; }
int cuCtxSetCurrent(void *context) { (void)context; return 0; }
int cuMemGetInfo_v2(size_t *left, size_t *total) { *left = TOTAL - used(); *total = TOTAL; return 0; }
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
    char path[4096];
    if (used() + bytes > TOTAL) return 2;
    held += bytes;
    snprintf(path, sizeof path, "%s/%d", getenv("STUB_CUDA"), getpid());
    FILE *file = fopen(path, "w");
    if (!file) return 999;
    fprintf(file, "%llu", (unsigned long long)held);
    fclose(file);
    *pointer = 1;
    return 0;
}
