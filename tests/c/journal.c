/* A run's journal: what is written into it is read back, and what does not hold is told. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const verifi_str none;

/* A folder of a test's own. */
struct folder {
    char path[64];
    /* In it. */
    char journal[96];
    /* Of a run with that journal. */
    char options[128];
};

static struct folder make_folder(void) {
    struct folder folder = {"/tmp/verifi-c-XXXXXX", "", ""};
    EXPECT(mkdtemp(folder.path) != NULL);
    snprintf(folder.journal, sizeof folder.journal, "%s/run.jsonl", folder.path);
    snprintf(folder.options, sizeof folder.options, "{\"journal\":\"%s\"}", folder.journal);
    return folder;
}

static void remove_folder(const struct folder *folder) {
    char torn[128];
    snprintf(torn, sizeof torn, "%s.torn", folder->journal);
    EXPECT(remove(torn) == 0 || errno == ENOENT);
    EXPECT(remove(folder->journal) == 0 || errno == ENOENT);
    EXPECT(rmdir(folder->path) == 0);
}

/* What is in the file, with a NUL behind it, to be freed. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(length + 1, 1);
    EXPECT(fread(text, 1, length, file) == length);
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL && fwrite(text, 1, length, file) == length);
    EXPECT(fclose(file) == 0);
}

/* Writes a journal of two calls, of which one fails, and two lines of the harness's own. Gives the run's events. */
static verifi_text *make_journal(const struct folder *folder) {
    verifi_text *events = NULL;
    verifi_run *run = check_run(folder->options);
    verifi_slot *slot = check_slot(run);
    EXPECT(verifi_run_log(run, verifi_str_of("umlaut \xc3\xbc, \"quotes\", \\ and \n in it"), NULL) == VERIFI_OK);
    verifi_result_free(verifi_slot_call(slot, verifi_str_of("echo"), verifi_str_of("{\"text\":\"hi\"}"), 0));
    verifi_result_free(verifi_slot_call(slot, verifi_str_of("fail"), none, 0));
    verifi_str with_nul = {"a\0b", 3};
    EXPECT(verifi_run_log(run, with_nul, NULL) == VERIFI_OK);
    EXPECT(verifi_run_close(run, NULL) == VERIFI_OK);
    EXPECT(verifi_run_events(run, &events, NULL) == VERIFI_OK);
    verifi_slot_free(slot);
    verifi_run_free(run);
    return events;
}

/* Whether checking the journal gives this JSON, in which 64 characters, those of the hash, come before `end`. */
static bool verifies(const struct folder *folder, const char *begin, const char *end) {
    verifi_text *text = NULL;
    EXPECT(verifi_journal_verify(verifi_str_of(folder->journal), &text, NULL) == VERIFI_OK);
    verifi_str told = verifi_text_str(text);
    size_t first = strlen(begin), last = strlen(end);
    bool same = told.len == first + 64 + last && memcmp(told.data, begin, first) == 0 &&
                memcmp(told.data + first + 64, end, last) == 0;
    if (!same) {
        printf("%s\n", told.data);
    }
    verifi_text_free(text);
    return same;
}

static verifi_journal *open_journal(const char *path) {
    verifi_journal *journal = NULL;
    EXPECT(verifi_journal_open(verifi_str_of(path), &journal, NULL) == VERIFI_OK && journal != NULL);
    return journal;
}

/* How many events the journal gives before it gives something else, which is to be `status`. */
static int count_events(const verifi_journal *journal, verifi_status status, verifi_error **error) {
    int count = 0;
    verifi_text *event = NULL;
    verifi_status told = VERIFI_OK;
    while ((told = verifi_journal_next(journal, &event, error)) == VERIFI_OK) {
        EXPECT(check_has(verifi_text_str(event), "\"runId\":\"r-c\""));
        verifi_text_free(event);
        event = NULL;
        count++;
    }
    EXPECT(told == status && event == NULL);
    return count;
}

/* Frees the error and says whether it names the journal, and this. */
static bool was(verifi_error *error, const struct folder *folder, const char *what) {
    verifi_str message = verifi_error_message(error);
    size_t path = strlen(folder->path);
    bool same = verifi_error_status(error) == VERIFI_JOURNAL && check_has(message, what) &&
                strncmp(message.data, folder->path, path) == 0;
    if (!same) {
        printf("%u %s\n", (unsigned)verifi_error_status(error), error ? message.data : "no error");
    }
    verifi_error_free(error);
    return same;
}

/* Whether a run with that journal cannot be opened, for that reason, and the file stays as it is. */
static bool opens_not(const struct folder *folder, const char *run_id, const char *what) {
    char manifest[64];
    snprintf(manifest, sizeof manifest, "{\"runId\":\"%s\",\"slotFills\":{}}", run_id);
    verifi_run *run = NULL;
    verifi_error *error = NULL;
    char *before = read_file(folder->journal);
    verifi_status status = verifi_run_open(verifi_str_of(manifest), verifi_str_of(folder->options), &run, &error);
    char *after = read_file(folder->journal);
    bool same = strcmp(before, after) == 0;
    free(before);
    free(after);
    verifi_run_free(run);
    return was(error, folder, what) && status == VERIFI_JOURNAL && run == NULL && same;
}

/* Rules 4.3, 4.4, 7.2. */
static void every_event_is_read_back(void) {
    struct folder folder = make_folder();
    verifi_text *events = make_journal(&folder);
    /* The events between commas are the run's own list but for its brackets, byte for byte. */
    const char *rest = verifi_text_str(events).data + 1;
    verifi_error *error = NULL;
    verifi_text *event = NULL;
    verifi_journal *journal = open_journal(folder.journal);
    int count = 0;
    for (; verifi_journal_next(journal, &event, &error) == VERIFI_OK; count++) {
        verifi_str text = verifi_text_str(event);
        EXPECT(strncmp(rest, text.data, text.len) == 0 && strchr(",]", rest[text.len]) != NULL);
        rest += text.len + 1;
        verifi_text_free(event);
    }
    EXPECT(count == 9 && *rest == 0 && error == NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT(verifi_journal_next(journal, &event, &error) == VERIFI_ENDED && error == NULL);
    }
    verifi_journal_free(journal);
    verifi_text_free(events);
    remove_folder(&folder);
}

/* Rules 4.5, 7.2. */
static void a_journal_that_holds_is_told(void) {
    struct folder folder = make_folder();
    verifi_text_free(make_journal(&folder));
    char *file = read_file(folder.journal), head[96];
    EXPECT(verifies(&folder, "{\"events\":9,\"missing\":0,\"ok\":true,\"head\":\"", "\"}"));
    /* The file ends with `HASH"}` and a line feed. */
    snprintf(head, sizeof head, "\"head\":\"%.64s\"", file + strlen(file) - 67);
    verifi_text *text = NULL;
    EXPECT(verifi_journal_verify(verifi_str_of(folder.journal), &text, NULL) == VERIFI_OK);
    EXPECT(check_has(verifi_text_str(text), head));
    verifi_text_free(text);
    write_file(folder.journal, "", 0);
    EXPECT(verifies(&folder, "{\"events\":0,\"missing\":0,\"ok\":true,\"head\":\"", "\"}"));
    verifi_journal *journal = open_journal(folder.journal);
    EXPECT(count_events(journal, VERIFI_ENDED, NULL) == 0);
    verifi_journal_free(journal);
    free(file);
    remove_folder(&folder);
}

/* Rules 4.5, 7.2. */
static void a_byte_that_changed_is_told(void) {
    struct folder folder = make_folder();
    verifi_text_free(make_journal(&folder));
    char *file = read_file(folder.journal), *quotes = strstr(file, "quotes");
    EXPECT(quotes != NULL);
    *quotes = 'Q';
    write_file(folder.journal, file, strlen(file));
    EXPECT(verifies(&folder, "{\"events\":1,\"missing\":0,\"ok\":false,\"head\":\"",
                    "\",\"fault\":{\"line\":2,\"what\":\"its hash does not fit its text\"}}"));
    verifi_error *error = NULL;
    verifi_journal *journal = open_journal(folder.journal);
    EXPECT(count_events(journal, VERIFI_JOURNAL, &error) == 1);
    EXPECT(was(error, &folder, "run.jsonl: line 2: its hash does not fit its text"));
    EXPECT(count_events(journal, VERIFI_ENDED, NULL) == 0);
    verifi_journal_free(journal);
    EXPECT(opens_not(&folder, "r-c", "line 2: its hash does not fit its text"));
    free(file);
    remove_folder(&folder);
}

/* Rules 4.2, 4.5, 7.2. */
static void a_torn_journal_is_told_and_goes_on(void) {
    struct folder folder = make_folder();
    verifi_text_free(make_journal(&folder));
    EXPECT(opens_not(&folder, "r-other", "belongs to run \"r-c\", not \"r-other\""));
    char *file = read_file(folder.journal);
    write_file(folder.journal, file, strlen(file) - 100);
    EXPECT(verifies(&folder, "{\"events\":8,\"missing\":0,\"ok\":false,\"head\":\"",
                    "\",\"fault\":{\"line\":9,\"what\":\"it was not written to its end\"}}"));
    verifi_error *error = NULL;
    verifi_journal *journal = open_journal(folder.journal);
    EXPECT(count_events(journal, VERIFI_JOURNAL, &error) == 8);
    EXPECT(was(error, &folder, "line 9: it was not written to its end"));
    verifi_journal_free(journal);
    verifi_run *run = check_run(folder.options);
    EXPECT(check_ledger(run, "toolCalls") == 2 && check_ledger(run, "failures") == 1);
    EXPECT(check_events(run, "call_finished", 2) && check_events(run, "run_started", 1));
    verifi_text *event = NULL;
    EXPECT(verifi_run_next_event(run, 0, &event, NULL) == VERIFI_OK);
    EXPECT(check_has(verifi_text_str(event), "the journal's last line was not written to its end"));
    verifi_text_free(event);
    EXPECT(opens_not(&folder, "r-c", "is in use by another run"));
    verifi_run_free(run);
    EXPECT(verifies(&folder, "{\"events\":11,\"missing\":0,\"ok\":true,\"head\":\"", "\"}"));
    free(file);
    remove_folder(&folder);
}

/* Rules 4.5, 7.2. */
static void a_file_that_cannot_be_read_is_told(void) {
    struct folder folder = make_folder();
    char fifo[80];
    snprintf(fifo, sizeof fifo, "%s/fifo", folder.path);
    EXPECT(mkfifo(fifo, 0600) == 0);
    const struct {
        verifi_str path;
        const char *what;
    } bad[] = {
        {verifi_str_of(folder.journal), "run.jsonl: No such file or directory"},
        {verifi_str_of(folder.path), ": is a directory"},
        {verifi_str_of(fifo), "fifo: is not a regular file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        verifi_error *error = NULL;
        verifi_text *text = NULL;
        verifi_journal *journal = NULL;
        EXPECT(verifi_journal_verify(bad[i].path, &text, &error) == VERIFI_JOURNAL && text == NULL);
        EXPECT(was(error, &folder, bad[i].what));
        EXPECT(verifi_journal_open(bad[i].path, &journal, &error) == VERIFI_JOURNAL && journal == NULL);
        EXPECT(was(error, &folder, bad[i].what));
    }
    verifi_text *text = NULL;
    EXPECT(verifi_journal_verify(none, &text, NULL) == VERIFI_JOURNAL && text == NULL);
    verifi_error *error = NULL;
    const verifi_str with_nul = {"/dev/null\0", 10};
    EXPECT(verifi_journal_verify(with_nul, &text, &error) == VERIFI_JOURNAL && text == NULL);
    EXPECT(check_is(verifi_error_message(error), "/dev/null\\0: file name contained an unexpected NUL byte"));
    verifi_error_free(error);
    EXPECT(remove(fifo) == 0);
    remove_folder(&folder);
}

/* Rules 4.4, 7.2. */
static void each_sync_writes_the_same(void) {
    static const char *const syncs[] = {"none", "finish", "always"};
    for (size_t i = 0; i < sizeof syncs / sizeof *syncs; i++) {
        struct folder folder = make_folder();
        const char *form = "{\"journal\":\"%s\",\"sync\":\"%s\"}";
        snprintf(folder.options, sizeof folder.options, form, folder.journal, syncs[i]);
        verifi_text_free(make_journal(&folder));
        EXPECT(verifies(&folder, "{\"events\":9,\"missing\":0,\"ok\":true,\"head\":\"", "\"}"));
        remove_folder(&folder);
    }
    verifi_run *run = NULL;
    verifi_error *error = NULL;
    verifi_str manifest = verifi_str_of("{\"runId\":\"r-c\",\"slotFills\":{}}");
    EXPECT(verifi_run_open(manifest, verifi_str_of("{\"sync\":\"often\"}"), &run, &error) == VERIFI_OPTIONS);
    EXPECT(check_is(verifi_error_message(error), "sync: must be \"none\", \"finish\" or \"always\"") && run == NULL);
    verifi_error_free(error);
}

static void *count_all(void *journal) {
    return (void *)(intptr_t)count_events(journal, VERIFI_ENDED, NULL);
}

/* Rules 4.3, 7.2. */
static void threads_share_the_events(void) {
    struct folder folder = make_folder();
    verifi_run *run = check_run(folder.options);
    for (int i = 0; i < 998; i++) {
        EXPECT(verifi_run_log(run, verifi_str_of("line"), NULL) == VERIFI_OK);
    }
    verifi_run_free(run);
    verifi_journal *journal = open_journal(folder.journal);
    pthread_t threads[4];
    intptr_t sum = 0;
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, count_all, journal);
    }
    for (int i = 0; i < 4; i++) {
        void *count = NULL;
        pthread_join(threads[i], &count);
        sum += (intptr_t)count;
    }
    EXPECT(sum == 1000);
    verifi_journal_free(journal);
    remove_folder(&folder);
}

int main(void) {
    static const struct check_test tests[] = {
        {"every_event_is_read_back", every_event_is_read_back},
        {"a_journal_that_holds_is_told", a_journal_that_holds_is_told},
        {"a_byte_that_changed_is_told", a_byte_that_changed_is_told},
        {"a_torn_journal_is_told_and_goes_on", a_torn_journal_is_told_and_goes_on},
        {"a_file_that_cannot_be_read_is_told", a_file_that_cannot_be_read_is_told},
        {"each_sync_writes_the_same", each_sync_writes_the_same},
        {"threads_share_the_events", threads_share_the_events},
    };
    return check_all(tests, sizeof tests / sizeof *tests);
}
