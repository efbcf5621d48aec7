/* The C face as the scenarios see it: commands by line, answers by line. tests/README.md has the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "verifi.h"

/* A call that was started and not yet waited for. */
struct started {
    char *id;
    verifi_call *call;
    struct started *next;
};

static verifi_run *run;
static struct started *calls;

static verifi_str str(struct field field) {
    return (verifi_str){field.data, field.len};
}

static bool is(struct field field, const char *text) {
    return field.len == strlen(text) && memcmp(field.data, text, field.len) == 0;
}

static uint64_t number(struct field field) {
    return strtoull(field.data, NULL, 10);
}

/* `{"NAME":VALUE}`. */
static void answer(const char *name, verifi_str json) {
    printf("{\"%s\":%.*s}\n", name, (int)json.len, json.data);
}

static void done(void) {
    answer("ok", verifi_str_of("true"));
}

/* An answer that is text, which is freed. */
static void answer_text(verifi_text *text) {
    answer("ok", verifi_text_str(text));
    verifi_text_free(text);
}

static const char *kind(verifi_status status) {
    switch (status) {
    case VERIFI_MANIFEST: return "manifest";
    case VERIFI_OPTIONS: return "options";
    case VERIFI_SLOT_NOT_FILLED: return "slot_not_filled";
    case VERIFI_LIST_TOOLS: return "list_tools";
    case VERIFI_JOURNAL: return "journal";
    default: return "of C alone";
    }
}

static void fail(verifi_error *error) {
    verifi_str message = verifi_error_message(error);
    printf("{\"error\":{\"kind\":\"%s\",\"message\":", kind(verifi_error_status(error)));
    print_json_string(message.data, message.len);
    printf("}}\n");
    verifi_error_free(error);
}

/* What a function gave: its text, or its error. */
static void answer_status(verifi_status status, verifi_text *text, verifi_error *error) {
    if (status == VERIFI_OK) {
        answer_text(text);
    } else {
        fail(error);
    }
}

static void answer_result(verifi_result *result) {
    verifi_text *json = NULL;
    verifi_error *error = NULL;
    verifi_status status = verifi_result_to_json(result, &json, &error);
    verifi_result_free(result);
    answer_status(status, json, error);
}

static void open_run(const struct field *field) {
    verifi_run *opened = NULL;
    verifi_error *error = NULL;
    if (verifi_run_open(str(field[1]), str(field[2]), &opened, &error) == VERIFI_OK) {
        verifi_run_free(run);
        run = opened;
        done();
    } else {
        fail(error);
    }
}

/* The slot of a command, or NULL after its error was told. */
static verifi_slot *slot(struct field name) {
    verifi_slot *slot = NULL;
    verifi_error *error = NULL;
    if (verifi_run_slot(run, str(name), &slot, &error) != VERIFI_OK) {
        fail(error);
    }
    return slot;
}

static void show_slot(const verifi_slot *slot) {
    verifi_str name = verifi_slot_name(slot), endpoint = verifi_slot_endpoint(slot);
    printf("{\"ok\":{\"name\":");
    print_json_string(name.data, name.len);
    printf(",\"endpoint\":");
    print_json_string(endpoint.data, endpoint.len);
    printf("}}\n");
}

static struct started *find(struct field id) {
    struct started *each = calls;
    while (each != NULL && !is(id, each->id)) {
        each = each->next;
    }
    return each;
}

static void start(const verifi_slot *slot, const struct field *field) {
    struct started *started = find(field[1]);
    if (started == NULL) {
        started = calloc(1, sizeof *started);
        started->id = strdup(field[1].data);
        started->next = calls;
        calls = started;
    }
    verifi_call_free(started->call);
    started->call = verifi_slot_submit(slot, str(field[3]), str(field[4]), number(field[5]));
    done();
}

static void wait_for(const struct field *field) {
    struct started *started = find(field[1]);
    verifi_result *result = started ? verifi_call_wait(started->call, number(field[2])) : NULL;
    if (result == NULL) {
        answer("ok", verifi_str_of("null"));
    } else {
        answer_result(result);
    }
}

static void cancel(struct field id) {
    struct started *started = find(id);
    verifi_call_cancel(started ? started->call : NULL);
    done();
}

static void await_event(const struct field *field) {
    char member[128];
    verifi_text *event = NULL;
    snprintf(member, sizeof member, "\"kind\":\"%s\"", field[1].data);
    while (verifi_run_next_event(run, number(field[2]), &event, NULL) == VERIFI_OK) {
        if (strstr(verifi_text_str(event).data, member) != NULL) {
            answer_text(event);
            return;
        }
        verifi_text_free(event);
    }
    answer("ok", verifi_str_of("null"));
}

static void redact(const struct field *field) {
    struct field secrets[64];
    verifi_str given[64];
    size_t count = parse_json_strings(field[2].data, secrets, 64);
    for (size_t i = 0; i < count; i++) {
        given[i] = str(secrets[i]);
    }
    verifi_text *out = NULL;
    verifi_error *error = NULL;
    verifi_status status = verifi_secrets_redact(str(field[1]), given, count, &out, &error);
    if (status == VERIFI_OK) {
        printf("{\"ok\":");
        print_json_string(verifi_text_str(out).data, verifi_text_str(out).len);
        printf("}\n");
        verifi_text_free(out);
    } else {
        fail(error);
    }
    for (size_t i = 0; i < count; i++) {
        free(secrets[i].data);
    }
}

/* Commands whose answer is a text of the slot's. */
static void ask_slot(const verifi_slot *slot, const struct field *field) {
    verifi_text *out = NULL;
    verifi_error *error = NULL;
    verifi_status status = VERIFI_OK;
    if (is(field[0], "list")) {
        status = verifi_slot_list_tools(slot, 0, &out, &error);
    } else if (is(field[0], "definitions")) {
        status = verifi_slot_tool_definitions(slot, 0, &out, &error);
    } else {
        status = verifi_slot_health(slot, &out, &error);
    }
    answer_status(status, out, error);
}

/* Commands that a slot carries out. */
static void to_slot(const verifi_slot *slot, const struct field *field) {
    if (is(field[0], "slot")) {
        show_slot(slot);
    } else if (is(field[0], "call")) {
        answer_result(verifi_slot_call(slot, str(field[2]), str(field[3]), number(field[4])));
    } else if (is(field[0], "start")) {
        start(slot, field);
    } else {
        ask_slot(slot, field);
    }
}

/* Commands that the run carries out. */
static void to_run(const struct field *field) {
    verifi_text *out = NULL;
    verifi_error *error = NULL;
    verifi_status status = VERIFI_OK;
    if (is(field[0], "ledger")) {
        status = verifi_run_ledger(run, &out, &error);
    } else if (is(field[0], "events")) {
        status = verifi_run_events(run, &out, &error);
    } else if (is(field[0], "collect")) {
        status = verifi_secrets_collect(str(field[1]), &out, &error);
    } else if (is(field[0], "log")) {
        status = verifi_run_log(run, str(field[1]), &error);
    } else {
        status = verifi_run_close(run, &error);
    }
    if (status == VERIFI_OK && out == NULL) {
        done();
    } else {
        answer_status(status, out, error);
    }
}

/* The events of a journal as an array, or the error in their place. */
static void read_journal(verifi_str path) {
    char *events = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&events, &length);
    verifi_journal *journal = NULL;
    verifi_text *event = NULL;
    verifi_error *error = NULL;
    verifi_status status = verifi_journal_open(path, &journal, &error);
    for (const char *before = ""; status == VERIFI_OK; before = ",") {
        status = verifi_journal_next(journal, &event, &error);
        if (status == VERIFI_OK) {
            fprintf(out, "%s%s", before, verifi_text_str(event).data);
            verifi_text_free(event);
        }
    }
    verifi_journal_free(journal);
    fclose(out);
    if (status == VERIFI_ENDED) {
        printf("{\"ok\":[%s]}\n", events);
    } else {
        fail(error);
    }
    free(events);
}

static void verify_journal(verifi_str path) {
    verifi_text *out = NULL;
    verifi_error *error = NULL;
    verifi_status status = verifi_journal_verify(path, &out, &error);
    answer_status(status, out, error);
}

/* Whether a call's report of progress is asked for, which C has not. */
static bool wants_progress(const struct field *field) {
    return (is(field[0], "call") && field[5].len > 0) || (is(field[0], "start") && field[6].len > 0);
}

static bool one_of(struct field field, const char *const *names) {
    while (*names != NULL && !is(field, *names)) {
        names++;
    }
    return *names != NULL;
}

static void obey(const struct field *field) {
    static const char *const of_slot[] = {"slot", "call", "start", "list", "definitions", "health", NULL};
    static const char *const of_run[] = {"ledger", "events", "collect", "log", "close", NULL};
    if (wants_progress(field)) {
        answer("unsupported", verifi_str_of("true"));
    } else if (is(field[0], "open")) {
        open_run(field);
    } else if (is(field[0], "version")) {
        printf("{\"ok\":{\"sdk\":\"%s\",\"version\":\"%s\"}}\n", verifi_version_sdk().data,
               verifi_version_package().data);
    } else if (one_of(field[0], of_slot)) {
        verifi_slot *named = slot(is(field[0], "start") ? field[2] : field[1]);
        if (named != NULL) {
            to_slot(named, field);
        }
        verifi_slot_free(named);
    } else if (one_of(field[0], of_run)) {
        to_run(field);
    } else if (is(field[0], "wait")) {
        wait_for(field);
    } else if (is(field[0], "cancel")) {
        cancel(field[1]);
    } else if (is(field[0], "await_event")) {
        await_event(field);
    } else if (is(field[0], "verify")) {
        verify_journal(str(field[1]));
    } else if (is(field[0], "read")) {
        read_journal(str(field[1]));
    } else if (is(field[0], "redact")) {
        redact(field);
    } else {
        answer("unsupported", verifi_str_of("true"));
    }
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    struct field field[FIELDS];
    for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
        split_fields(line, (size_t)length, field);
        obey(field);
        fflush(stdout);
    }
    free(line);
    while (calls != NULL) {
        struct started *next = calls->next;
        verifi_call_free(calls->call);
        free(calls->id);
        free(calls);
        calls = next;
    }
    verifi_run_free(run);
    return 0;
}
