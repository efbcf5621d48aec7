#include "check.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>

int check_faults;

void check_fault(const char *file, int line, const char *what) {
    __atomic_add_fetch(&check_faults, 1, __ATOMIC_SEQ_CST);
    printf("%s:%d: does not hold: %s\n", file, line, what);
}

int check_all(const struct check_test *tests, size_t count) {
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        check_faults = 0;
        tests[i].run();
        failed += check_faults != 0;
        printf("%s ... %s\n", tests[i].name, check_faults == 0 ? "ok" : "FAILED");
        fflush(stdout);
    }
    printf("%zu passed, %zu failed\n", count - failed, failed);
    return failed != 0;
}

uint64_t check_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool check_is(verifi_str text, const char *expected) {
    return text.data != NULL && text.len == strlen(expected) && strcmp(text.data, expected) == 0;
}

bool check_has(verifi_str text, const char *part) {
    return text.data != NULL && text.data[text.len] == 0 && strstr(text.data, part) != NULL;
}

static int threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* "." and "..". */
    while (tasks != NULL && readdir(tasks) != NULL) {
        count++;
    }
    closedir(tasks);
    return count;
}

bool check_threads(int count) {
    /* A thread that ends tells nobody: there is only to look. */
    const struct timespec pause = {0, 2000000};
    for (uint64_t end = check_now() + 2000; check_now() < end; nanosleep(&pause, NULL)) {
        if (threads() <= count) {
            return true;
        }
    }
    return threads() <= count;
}

verifi_run *check_run(const char *options) {
    char manifest[512];
    const char *server = getenv("VERIFI_TEST_SERVER");
    snprintf(manifest, sizeof manifest, "{\"runId\":\"r-c\",\"slotFills\":{\"kali\":\"%s\"}}", server ? server : "");
    verifi_run *run = NULL;
    verifi_error *error = NULL;
    EXPECT(verifi_run_open(verifi_str_of(manifest), verifi_str_of(options), &run, &error) == VERIFI_OK);
    if (error != NULL) {
        printf("%s\n", verifi_error_message(error).data);
    }
    verifi_error_free(error);
    return run;
}

verifi_slot *check_slot(const verifi_run *run) {
    verifi_slot *slot = NULL;
    EXPECT(verifi_run_slot(run, verifi_str_of("kali"), &slot, NULL) == VERIFI_OK);
    return slot;
}

long check_ledger(const verifi_run *run, const char *name) {
    char member[64];
    verifi_text *ledger = NULL;
    EXPECT(verifi_run_ledger(run, &ledger, NULL) == VERIFI_OK);
    snprintf(member, sizeof member, "\"%s\":", name);
    const char *found = ledger ? strstr(verifi_text_str(ledger).data, member) : NULL;
    long value = found ? strtol(found + strlen(member), NULL, 10) : -1;
    verifi_text_free(ledger);
    return value;
}

bool check_events(const verifi_run *run, const char *kind, int count) {
    char member[64];
    snprintf(member, sizeof member, "\"kind\":\"%s\"", kind);
    uint64_t end = check_now() + 60000;
    while (count > 0 && check_now() < end) {
        verifi_text *event = NULL;
        verifi_status status = verifi_run_next_event(run, 1000, &event, NULL);
        count -= status == VERIFI_OK && check_has(verifi_text_str(event), member);
        verifi_text_free(event);
        if (status == VERIFI_ENDED) {
            break;
        }
    }
    return count == 0;
}
