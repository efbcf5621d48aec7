/* What a C program should not do, and zero, and nothing: every function has an answer to it. */
#include <stdlib.h>

#include "check.h"

static const verifi_str none;

static verifi_str bytes(const char *data, size_t length) {
    verifi_str text = {data, length};
    return text;
}

/* Frees the error and says whether it was this one. */
static bool was(verifi_error *error, verifi_status status, const char *message) {
    bool same = verifi_error_status(error) == status && check_is(verifi_error_message(error), message);
    if (!same) {
        printf("%u %s\n", (unsigned)verifi_error_status(error), error ? verifi_error_message(error).data : "no error");
    }
    verifi_error_free(error);
    return same;
}

/* Rule 7.2. */
static void null_is_nothing_to_free(void) {
    verifi_run_free(NULL);
    verifi_slot_free(NULL);
    verifi_call_free(NULL);
    verifi_result_free(NULL);
    verifi_text_free(NULL);
    verifi_journal_free(NULL);
    verifi_error_free(NULL);
    verifi_call_cancel(NULL);
}

/* Rule 7.2. */
static void null_has_nothing_to_read(void) {
    EXPECT(verifi_run_id(NULL).data == NULL);
    EXPECT(verifi_slot_name(NULL).data == NULL && verifi_slot_endpoint(NULL).data == NULL);
    EXPECT(verifi_text_str(NULL).data == NULL && verifi_text_str(NULL).len == 0);
    EXPECT(verifi_error_status(NULL) == VERIFI_OK && verifi_error_message(NULL).data == NULL);
    EXPECT(!verifi_result_ok(NULL) && !verifi_result_is_error(NULL) && !verifi_result_may_have_run(NULL));
    EXPECT(verifi_result_text(NULL).data == NULL && verifi_result_error(NULL).data == NULL);
    EXPECT(verifi_result_raw(NULL).data == NULL && verifi_result_outcome_name(NULL).data == NULL);
    EXPECT(verifi_result_outcome(NULL) == VERIFI_OUTCOME_REJECTED);
    EXPECT(verifi_result_server(NULL) == VERIFI_SERVER_NONE);
    EXPECT(verifi_result_redactions(NULL) == 0 && verifi_result_latency_ms(NULL) <= 0);
    EXPECT(verifi_call_wait(NULL, 0) == NULL && verifi_call_wait(NULL, UINT64_MAX) == NULL);
    EXPECT(verifi_str_of(NULL).len == 0);
}

/* Rule 7.2. */
static void null_where_an_object_is_needed_is_told(void) {
    verifi_error *error = NULL;
    verifi_text *text = NULL;
    verifi_slot *slot = NULL;
    EXPECT(verifi_run_slot(NULL, none, &slot, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "run: is NULL"));
    EXPECT(verifi_run_slot_names(NULL, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_ledger(NULL, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_events(NULL, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_next_event(NULL, UINT64_MAX, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_log(NULL, none, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_close(NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_list_tools(NULL, 0, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_tool_definitions(NULL, 0, &text, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_health(NULL, &text, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "slot: is NULL"));
    EXPECT(verifi_result_to_json(NULL, &text, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "result: is NULL"));
    EXPECT(verifi_journal_next(NULL, &text, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "journal: is NULL"));
    EXPECT(text == NULL && slot == NULL);
}

/* Rule 7.2. */
static void null_where_an_output_is_needed_is_told(void) {
    verifi_error *error = NULL;
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), none, 0);
    verifi_str manifest = verifi_str_of("{\"runId\":\"r\",\"slotFills\":{}}");
    EXPECT(verifi_run_open(manifest, none, NULL, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "out: is NULL"));
    EXPECT(verifi_run_slot(run, verifi_str_of("kali"), NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_slot_names(run, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_ledger(run, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_events(run, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_run_next_event(run, 0, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_list_tools(slot, 0, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_tool_definitions(slot, 0, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_slot_health(slot, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_result_to_json(result, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_secrets_redact(none, NULL, 0, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_secrets_collect(none, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_journal_verify(none, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    EXPECT(verifi_journal_open(none, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    verifi_journal *journal = NULL;
    EXPECT(verifi_journal_open(verifi_str_of("/proc/self/exe"), &journal, NULL) == VERIFI_OK);
    EXPECT(verifi_journal_next(journal, NULL, NULL) == VERIFI_NULL_ARGUMENT);
    verifi_journal_free(journal);
    verifi_result_free(result);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 2.1, 7.2. */
static void a_call_on_null_has_a_result(void) {
    verifi_result *result = verifi_slot_call(NULL, verifi_str_of("echo"), none, 0);
    EXPECT(verifi_result_outcome(result) == VERIFI_OUTCOME_REJECTED && !verifi_result_ok(result));
    EXPECT(check_is(verifi_result_error(result), "slot: is NULL") && check_is(verifi_result_text(result), ""));
    EXPECT(check_is(verifi_result_outcome_name(result), "rejected") && verifi_result_raw(result).data == NULL);
    verifi_result_free(result);
    verifi_call *call = verifi_slot_submit(NULL, verifi_str_of("echo"), none, 0);
    result = verifi_call_wait(call, 0);
    EXPECT(check_is(verifi_result_error(result), "slot: is NULL"));
    verifi_result_free(result);
    verifi_call_cancel(call);
    verifi_call_free(call);
}

/* Rules 1.1, 7.2. */
static void texts_that_are_none_are_told(void) {
    const verifi_str bad[] = {bytes("\xff\xfe", 2), bytes("\xed\xa0\x80", 3), bytes("caf\xc3", 4), bytes(NULL, 5),
                              bytes("short", SIZE_MAX), bytes("short", (size_t)PTRDIFF_MAX + 1)};
    verifi_run *run = check_run("");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        verifi_error *error = NULL;
        verifi_run *other = NULL;
        verifi_slot *slot = NULL;
        verifi_text *text = NULL;
        verifi_journal *journal = NULL;
        EXPECT(verifi_run_open(bad[i], none, &other, &error) == VERIFI_INVALID_UTF8);
        EXPECT(was(error, VERIFI_INVALID_UTF8, "manifest: is not UTF-8"));
        EXPECT(verifi_run_open(none, bad[i], &other, &error) == VERIFI_INVALID_UTF8);
        EXPECT(was(error, VERIFI_INVALID_UTF8, "options: is not UTF-8"));
        EXPECT(verifi_run_slot(run, bad[i], &slot, NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_run_log(run, bad[i], NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_secrets_redact(bad[i], NULL, 0, &text, NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_secrets_redact(none, &bad[i], 1, &text, NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_secrets_collect(bad[i], &text, NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_journal_verify(bad[i], &text, NULL) == VERIFI_INVALID_UTF8);
        EXPECT(verifi_journal_open(bad[i], &journal, &error) == VERIFI_INVALID_UTF8);
        EXPECT(was(error, VERIFI_INVALID_UTF8, "path: is not UTF-8"));
        EXPECT(other == NULL && slot == NULL && text == NULL && journal == NULL);
    }
    verifi_run_free(run);
}

/* Rules 2.1, 4.1, 7.2. */
static void a_call_with_texts_that_are_none_is_rejected(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    const verifi_str bad[] = {bytes("\xff\xfe", 2), bytes(NULL, 5), bytes("short", SIZE_MAX)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        verifi_result *result = verifi_slot_call(slot, bad[i], none, 0);
        EXPECT(check_is(verifi_result_error(result), "tool: is not UTF-8"));
        EXPECT(verifi_result_outcome(result) == VERIFI_OUTCOME_REJECTED);
        verifi_result_free(result);
        verifi_call *call = verifi_slot_submit(slot, verifi_str_of("echo"), bad[i], 0);
        result = verifi_call_wait(call, UINT64_MAX);
        EXPECT(check_is(verifi_result_error(result), "arguments: is not UTF-8"));
        verifi_result_free(result);
        verifi_call_free(call);
    }
    EXPECT(check_ledger(run, "toolCalls") == 0);
    EXPECT(check_events(run, "tool_error", 6));
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 1.1, 1.2, 2.1, 5.1, 7.2. */
static void empty_texts_are_texts(void) {
    verifi_error *error = NULL;
    verifi_run *run = NULL;
    verifi_slot *slot = NULL;
    verifi_text *text = NULL;
    EXPECT(verifi_run_open(bytes("{", 0), none, &run, &error) == VERIFI_MANIFEST && run == NULL);
    verifi_error_free(error);
    run = check_run("");
    EXPECT(verifi_run_slot(run, none, &slot, &error) == VERIFI_SLOT_NOT_FILLED && slot == NULL);
    EXPECT(check_has(verifi_error_message(error), "slot '' has no endpoint in this run's manifest. Filled slots: kali."));
    verifi_error_free(error);
    EXPECT(verifi_run_log(run, none, NULL) == VERIFI_OK);
    EXPECT(verifi_secrets_redact(none, NULL, 0, &text, NULL) == VERIFI_OK && check_is(verifi_text_str(text), ""));
    verifi_text_free(text);
    slot = check_slot(run);
    verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), bytes("{\"text\":\"unseen\"}", 0), 0);
    EXPECT(check_is(verifi_result_text(result), "{}"));
    verifi_result_free(result);
    result = verifi_slot_call(slot, none, none, UINT64_MAX);
    EXPECT(verifi_result_outcome(result) == VERIFI_OUTCOME_REFUSED);
    verifi_result_free(result);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 5.1, 7.2. */
static void an_array_that_is_none_is_told(void) {
    verifi_error *error = NULL;
    verifi_text *text = NULL;
    const verifi_str secret = verifi_str_of("hunter22");
    EXPECT(verifi_secrets_redact(none, NULL, 1, &text, &error) == VERIFI_NULL_ARGUMENT);
    EXPECT(was(error, VERIFI_NULL_ARGUMENT, "secrets: is NULL"));
    EXPECT(verifi_secrets_redact(none, &secret, SIZE_MAX, &text, &error) == VERIFI_INVALID_ARGUMENT);
    EXPECT(was(error, VERIFI_INVALID_ARGUMENT, "secrets: there cannot be that many"));
    EXPECT(verifi_secrets_collect(verifi_str_of("{\"A_TOKEN\":\"hunter22\""), &text, &error) == VERIFI_INVALID_ARGUMENT);
    EXPECT(was(error, VERIFI_INVALID_ARGUMENT, "environment: is not a JSON object of strings"));
    EXPECT(text == NULL);
}

/* Rules 2.2, 7.2. */
static void a_text_has_its_length_and_a_nul(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_str arguments = verifi_str_of("{\"text\":\"a\\u0000b\"}");
    verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), arguments, 0);
    verifi_str text = verifi_result_text(result);
    EXPECT(text.len == 3 && memcmp(text.data, "a\0b", 4) == 0);
    verifi_str raw = verifi_result_raw(result);
    EXPECT(raw.len == strlen(raw.data) && raw.data == verifi_result_raw(result).data);
    EXPECT(check_is(verifi_version_sdk(), "1.0.0") && verifi_version_abi() == VERIFI_ABI_VERSION);
    EXPECT(check_is(verifi_run_id(run), "r-c") && check_is(verifi_slot_name(slot), "kali"));
    verifi_text *json = NULL;
    EXPECT(verifi_result_to_json(result, &json, NULL) == VERIFI_OK);
    EXPECT(check_has(verifi_text_str(json), "\"text\":\"a\\u0000b\""));
    verifi_text_free(json);
    verifi_result_free(result);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 2.1, 3.10, 4.3, 7.2. */
static void a_closed_run_can_still_be_asked(void) {
    verifi_error *error = NULL;
    verifi_text *text = NULL;
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    EXPECT(verifi_run_close(run, NULL) == VERIFI_OK && verifi_run_close(run, &error) == VERIFI_OK && error == NULL);
    verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), none, 0);
    EXPECT(check_is(verifi_result_error(result), "the run is closed"));
    verifi_result_free(result);
    EXPECT(verifi_slot_list_tools(slot, 0, &text, &error) == VERIFI_LIST_TOOLS && text == NULL);
    EXPECT(was(error, VERIFI_LIST_TOOLS, "tools/list failed: the run is closed"));
    EXPECT(verifi_run_log(run, verifi_str_of("late"), NULL) == VERIFI_OK);
    EXPECT(check_events(run, "run_finished", 1));
    EXPECT(verifi_run_next_event(run, UINT64_MAX, &text, &error) == VERIFI_ENDED && text == NULL);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 4.3, 7.2. */
static void no_event_yet_is_no_error(void) {
    verifi_error *error = NULL;
    verifi_text *text = NULL;
    verifi_run *run = check_run("");
    EXPECT(check_events(run, "run_started", 1));
    EXPECT(verifi_run_next_event(run, 0, &text, &error) == VERIFI_NOT_YET);
    EXPECT(verifi_run_next_event(run, 5, &text, &error) == VERIFI_NOT_YET && text == NULL && error == NULL);
    verifi_run_free(run);
}

int main(void) {
    static const struct check_test tests[] = {
        {"null_is_nothing_to_free", null_is_nothing_to_free},
        {"null_has_nothing_to_read", null_has_nothing_to_read},
        {"null_where_an_object_is_needed_is_told", null_where_an_object_is_needed_is_told},
        {"null_where_an_output_is_needed_is_told", null_where_an_output_is_needed_is_told},
        {"a_call_on_null_has_a_result", a_call_on_null_has_a_result},
        {"texts_that_are_none_are_told", texts_that_are_none_are_told},
        {"a_call_with_texts_that_are_none_is_rejected", a_call_with_texts_that_are_none_is_rejected},
        {"empty_texts_are_texts", empty_texts_are_texts},
        {"an_array_that_is_none_is_told", an_array_that_is_none_is_told},
        {"a_text_has_its_length_and_a_nul", a_text_has_its_length_and_a_nul},
        {"a_closed_run_can_still_be_asked", a_closed_run_can_still_be_asked},
        {"no_event_yet_is_no_error", no_event_yet_is_no_error},
    };
    return check_all(tests, sizeof tests / sizeof *tests);
}
