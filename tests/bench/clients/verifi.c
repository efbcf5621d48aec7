/* verifi URL SECRETS: verifi as it is called in C. Of the calls that are under way at once each has a thread. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <verifi.h>

/* What a thread does in a turn, and how it went. */
struct worker {
    pthread_t thread;
    const char *tool;
    size_t count;
    uint64_t *each;
    verifi_result *last;
};

static verifi_slot *slot;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "verifi.c: %s\n", what);
    exit(1);
}

/* Makes the calls of one worker until one fails. */
static void *work(void *argument) {
    struct worker *worker = argument;
    for (size_t at = 0; at < worker->count; at++) {
        verifi_result_free(worker->last);
        uint64_t begin = now();
        worker->last = verifi_slot_call(slot, verifi_str_of(worker->tool), verifi_str_of("{\"n\":1}"), 0);
        worker->each[at] = now() - begin;
        if (!verifi_result_ok(worker->last)) {
            break;
        }
    }
    return NULL;
}

static size_t occurrences(const char *text, const char *of) {
    size_t count = 0;
    while ((text = strstr(text, of)) != NULL) {
        text += strlen(of);
        count++;
    }
    return count;
}

static void tell(const struct worker *worker, size_t width, uint64_t took) {
    for (size_t at = 0; at < width; at++) {
        if (!verifi_result_ok(worker[at].last)) {
            printf("{\"error\":\"%s\"}\n", verifi_result_outcome_name(worker[at].last).data);
            return;
        }
    }
    verifi_str text = verifi_result_text(worker[0].last);
    size_t redacted = occurrences(text.data, "[REDACTED]");
    printf("{\"ns\":%" PRIu64 ",\"bytes\":%zu,\"redacted\":%zu,\"each\":[", took, text.len, redacted);
    for (size_t at = 0; at < width * worker->count; at++) {
        printf("%s%" PRIu64, at == 0 ? "" : ",", worker->each[at]);
    }
    printf("]}\n");
}

static void turn(const char *tool, size_t count, size_t width) {
    struct worker *worker = calloc(width, sizeof *worker);
    uint64_t *each = calloc(count, sizeof *each);
    if (worker == NULL || each == NULL) {
        fail("no memory");
    }
    uint64_t begin = now();
    for (size_t at = 0; at < width; at++) {
        worker[at].tool = tool;
        worker[at].count = count / width;
        worker[at].each = each + at * (count / width);
        if (width > 1 && pthread_create(&worker[at].thread, NULL, work, &worker[at]) != 0) {
            fail("no thread");
        }
    }
    if (width == 1) {
        work(worker);
    }
    for (size_t at = 0; width > 1 && at < width; at++) {
        pthread_join(worker[at].thread, NULL);
    }
    tell(worker, width, now() - begin);
    for (size_t at = 0; at < width; at++) {
        verifi_result_free(worker[at].last);
    }
    free(each);
    free(worker);
}

/* The lines of a file as a JSON array; the bench's secrets have nothing to escape. The caller frees it. */
static char *array_of_lines(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL, *line = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (file == NULL || out == NULL) {
        fail("SECRETS cannot be read");
    }
    const char *comma = "";
    for (size_t room = 0; getline(&line, &room, file) > 0; comma = ",") {
        line[strcspn(line, "\n")] = 0;
        fprintf(out, "%s\"%s\"", comma, line);
    }
    fclose(out);
    fclose(file);
    free(line);
    return text;
}

static verifi_run *open_run(const char *url, const char *path) {
    char manifest[256];
    snprintf(manifest, sizeof manifest, "{\"runId\":\"bench\",\"slotFills\":{\"kali\":\"%s\"}}", url);
    char *secrets = array_of_lines(path);
    size_t size = strlen(secrets) + 32;
    char *options = malloc(size);
    if (options == NULL) {
        fail("no memory");
    }
    snprintf(options, size, "{\"secrets\":[%s]}", secrets);
    verifi_run *run = NULL;
    if (verifi_run_open(verifi_str_of(manifest), verifi_str_of(options), &run, NULL) != VERIFI_OK ||
        verifi_run_slot(run, verifi_str_of("kali"), &slot, NULL) != VERIFI_OK) {
        fail("no run");
    }
    free(options);
    free(secrets);
    return run;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fail("URL and SECRETS are missing");
    }
    verifi_run *run = open_run(argv[1], argv[2]);
    char tool[32];
    size_t count, width;
    while (scanf("%31s %zu %zu", tool, &count, &width) == 3) {
        turn(tool, count, width);
        fflush(stdout);
    }
    verifi_slot_free(slot);
    verifi_run_free(run);
    return 0;
}
