/* The C harness of the crash test: `crash-harness MANIFEST JOURNAL PREFIX`, as in harness.rs. */
#include <pthread.h>
#include <stdio.h>
#include <verifi.h>

enum { THREADS = 8 };

struct caller {
    pthread_t thread;
    const verifi_slot *kali;
    const char *prefix;
    int number;
};

static void *call_for_ever(void *argument) {
    const struct caller *caller = argument;
    for (unsigned long number = 0;; number++) {
        char tool[64];
        snprintf(tool, sizeof tool, "%s-%d-%lu", caller->prefix, caller->number, number);
        /* What matters is what is in the journal when the harness is killed. */
        verifi_result_free(verifi_slot_call(caller->kali, verifi_str_of(tool), verifi_str_of("{}"), 0));
    }
    return NULL;
}

static int fail(verifi_error *error) {
    fprintf(stderr, "%s\n", verifi_error_message(error).data);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "MANIFEST JOURNAL PREFIX\n");
        return 1;
    }
    /* The test's paths have nothing to escape. */
    char options[4096];
    snprintf(options, sizeof options, "{\"journal\":\"%s\"}", argv[2]);
    verifi_run *run = NULL;
    verifi_slot *kali = NULL;
    verifi_error *error = NULL;
    if (verifi_run_open(verifi_str_of(argv[1]), verifi_str_of(options), &run, &error) != VERIFI_OK ||
        verifi_run_slot(run, verifi_str_of("kali"), &kali, &error) != VERIFI_OK) {
        return fail(error);
    }
    struct caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i].kali = kali;
        callers[i].prefix = argv[3];
        callers[i].number = i;
        pthread_create(&callers[i].thread, NULL, call_for_ever, &callers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
    }
    return 0;
}
