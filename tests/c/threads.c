/* One run on many threads, and objects that end in any order while calls are under way. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

static const verifi_str none;

/* How much slower than usual things may be here: valgrind is. */
static int patience(void) {
    const char *told = getenv("VERIFI_TEST_PATIENCE");
    return told ? atoi(told) : 1;
}

/* A call that lasts a minute unless it is stopped. */
static verifi_call *long_call(const verifi_slot *slot) {
    return verifi_slot_submit(slot, verifi_str_of("slow"), verifi_str_of("{\"ms\":60000}"), 0);
}

static verifi_outcome outcome_of(const verifi_call *call) {
    verifi_result *result = verifi_call_wait(call, 60000);
    verifi_outcome outcome = result ? verifi_result_outcome(result) : UINT32_MAX;
    verifi_result_free(result);
    return outcome;
}

static void *echo(void *shared) {
    const verifi_slot *slot = shared;
    for (int i = 0; i < 400 / patience(); i++) {
        char arguments[64], text[32];
        snprintf(text, sizeof text, "%p-%d", (void *)&text, i);
        snprintf(arguments, sizeof arguments, "{\"text\":\"%s\"}", text);
        verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), verifi_str_of(arguments), 0);
        EXPECT(verifi_result_ok(result) && check_is(verifi_result_text(result), text));
        EXPECT(verifi_result_server(result) == VERIFI_SERVER_PRIMARY);
        verifi_result_free(result);
    }
    return NULL;
}

/* Rules 1.3, 4.1, 7.2. */
static void sixteen_threads_use_one_slot(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    pthread_t threads[16];
    for (int i = 0; i < 16; i++) {
        pthread_create(&threads[i], NULL, echo, slot);
    }
    for (int i = 0; i < 16; i++) {
        pthread_join(threads[i], NULL);
    }
    EXPECT(check_ledger(run, "toolCalls") == 16 * (400 / patience()) && check_ledger(run, "failures") == 0);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

static void *wait_for_result(void *call) {
    return verifi_call_wait(call, UINT64_MAX);
}

/* Rules 2.6, 7.2. */
static void a_call_is_cancelled_from_another_thread(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_call *call = long_call(slot);
    pthread_t waiter;
    EXPECT(check_events(run, "call_started", 1));
    EXPECT(verifi_call_wait(call, 0) == NULL && verifi_call_wait(call, 5) == NULL);
    pthread_create(&waiter, NULL, wait_for_result, call);
    uint64_t begin = check_now();
    verifi_call_cancel(call);
    void *result = NULL;
    pthread_join(waiter, &result);
    EXPECT(check_now() - begin < 200 * (uint64_t)patience());
    EXPECT(verifi_result_outcome(result) == VERIFI_OUTCOME_CANCELLED);
    verifi_call_cancel(call);
    EXPECT(outcome_of(call) == VERIFI_OUTCOME_CANCELLED);
    verifi_result_free(result);
    verifi_call_free(call);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 2.6, 7.2. */
static void a_call_that_has_ended_keeps_its_result(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_call *call = verifi_slot_submit(slot, verifi_str_of("echo"), none, 0);
    EXPECT(outcome_of(call) == VERIFI_OUTCOME_OK);
    verifi_call_cancel(call);
    EXPECT(outcome_of(call) == VERIFI_OUTCOME_OK);
    verifi_call_free(call);
    verifi_slot_free(slot);
    verifi_run_free(run);
}

/* Rules 2.6, 4.1, 7.2. */
static void of_64_calls_half_are_cancelled(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_call *calls[64];
    int ok = 0, cancelled = 0;
    for (int i = 0; i < 64; i++) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "{\"ms\":%d}", i % 2 ? 60000 : 1500 * patience());
        calls[i] = verifi_slot_submit(slot, verifi_str_of("slow"), verifi_str_of(arguments), 0);
    }
    EXPECT(check_events(run, "call_started", 64));
    for (int i = 1; i < 64; i += 2) {
        verifi_call_cancel(calls[i]);
    }
    for (int i = 0; i < 64; i++) {
        verifi_outcome outcome = outcome_of(calls[i]);
        ok += i % 2 == 0 && outcome == VERIFI_OUTCOME_OK;
        cancelled += i % 2 == 1 && outcome == VERIFI_OUTCOME_CANCELLED;
        verifi_call_free(calls[i]);
    }
    EXPECT(ok == 32 && cancelled == 32);
    EXPECT(check_ledger(run, "toolCalls") == 64 && check_ledger(run, "failures") == 32);
    verifi_slot_free(slot);
    verifi_run_free(run);
    EXPECT(check_threads(1));
}

/* Rule 7.2. */
static void calls_may_be_freed_at_once(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    for (int i = 0; i < 32; i++) {
        verifi_call_free(long_call(slot));
    }
    verifi_run_free(run);
    verifi_call_free(long_call(slot));
    verifi_slot_free(slot);
    EXPECT(check_threads(1));
}

static void *call_and_wait(void *slot) {
    return verifi_slot_call(slot, verifi_str_of("slow"), verifi_str_of("{\"ms\":60000}"), 0);
}

static void *wait_for_the_end(void *run) {
    verifi_text *event = NULL;
    verifi_status status = VERIFI_OK;
    while ((status = verifi_run_next_event(run, UINT64_MAX, &event, NULL)) == VERIFI_OK) {
        /* The next call is made with a run that may be freed by now. */
        bool last = check_has(verifi_text_str(event), "\"kind\":\"run_finished\"");
        verifi_text_free(event);
        if (last) {
            break;
        }
    }
    EXPECT(status == VERIFI_OK);
    return NULL;
}

/* Nothing tells that another thread has begun to wait; after this long it has. */
static void let_them_begin(void) {
    const struct timespec pause = {patience() / 10, 100000000};
    nanosleep(&pause, NULL);
}

/* Rules 2.1, 7.2. */
static void objects_may_be_freed_under_those_who_wait(void) {
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    pthread_t caller, waiter, second, reader;
    verifi_call *call = long_call(slot);
    pthread_create(&caller, NULL, call_and_wait, slot);
    pthread_create(&waiter, NULL, wait_for_result, call);
    pthread_create(&second, NULL, wait_for_result, call);
    EXPECT(check_events(run, "call_started", 2));
    pthread_create(&reader, NULL, wait_for_the_end, run);
    let_them_begin();
    verifi_slot_free(slot);
    verifi_call_free(call);
    void *results[3] = {NULL, NULL, NULL};
    pthread_join(waiter, &results[0]);
    pthread_join(second, &results[1]);
    verifi_run_free(run);
    pthread_join(caller, &results[2]);
    pthread_join(reader, NULL);
    for (int i = 0; i < 3; i++) {
        EXPECT(verifi_result_outcome(results[i]) == VERIFI_OUTCOME_CANCELLED);
        verifi_result_free(results[i]);
    }
    EXPECT(check_threads(1));
}

/* What a program may end, in the order that it likes. */
enum end { CLOSE, FREE_RUN, FREE_SLOT, FREE_CALL, FREE_RESULT, ENDS };

struct held {
    verifi_run *run;
    verifi_slot *slot;
    verifi_call *call;
    verifi_result *result;
    bool closed;
};

static void end(struct held *held, enum end what) {
    switch (what) {
    case CLOSE:
        EXPECT(verifi_run_close(held->run, NULL) == (held->run ? VERIFI_OK : VERIFI_NULL_ARGUMENT));
        held->closed = true;
        break;
    case FREE_RUN:
        verifi_run_free(held->run);
        held->run = NULL;
        held->closed = true;
        break;
    case FREE_SLOT:
        verifi_slot_free(held->slot);
        held->slot = NULL;
        break;
    case FREE_CALL:
        verifi_call_free(held->call);
        held->call = NULL;
        break;
    default:
        verifi_result_free(held->result);
        held->result = NULL;
    }
}

/* Whether what is left works. */
static void use(const struct held *held) {
    EXPECT(held->run == NULL || check_ledger(held->run, "toolCalls") >= 1);
    EXPECT(held->result == NULL || check_is(verifi_result_text(held->result), "hi"));
    EXPECT(held->call == NULL || !held->closed || outcome_of(held->call) == VERIFI_OUTCOME_CANCELLED);
    if (held->slot != NULL) {
        verifi_result *result = verifi_slot_call(held->slot, verifi_str_of("echo"), none, 0);
        EXPECT(verifi_result_outcome(result) == (held->closed ? VERIFI_OUTCOME_REJECTED : VERIFI_OUTCOME_OK));
        verifi_result_free(result);
    }
}

static void end_in_order(const enum end *order) {
    struct held held = {check_run(""), NULL, NULL, NULL, false};
    held.slot = check_slot(held.run);
    held.result = verifi_slot_call(held.slot, verifi_str_of("echo"), verifi_str_of("{\"text\":\"hi\"}"), 0);
    held.call = long_call(held.slot);
    EXPECT(check_events(held.run, "call_started", 2));
    for (int i = 0; i < ENDS; i++) {
        end(&held, order[i]);
        use(&held);
    }
}

/* Every order of what follows `from`. */
static void permute(enum end *order, int from) {
    if (from == ENDS) {
        end_in_order(order);
    }
    for (int i = from; i < ENDS; i++) {
        enum end first = order[i];
        order[i] = order[from];
        order[from] = first;
        permute(order, from + 1);
        order[from] = order[i];
        order[i] = first;
    }
}

/* Rules 2.1, 7.2. */
static void ends_come_in_every_order(void) {
    enum end order[ENDS] = {CLOSE, FREE_RUN, FREE_SLOT, FREE_CALL, FREE_RESULT};
    permute(order, 0);
    EXPECT(check_threads(1));
}

int main(void) {
    static const struct check_test tests[] = {
        {"sixteen_threads_use_one_slot", sixteen_threads_use_one_slot},
        {"a_call_is_cancelled_from_another_thread", a_call_is_cancelled_from_another_thread},
        {"a_call_that_has_ended_keeps_its_result", a_call_that_has_ended_keeps_its_result},
        {"of_64_calls_half_are_cancelled", of_64_calls_half_are_cancelled},
        {"calls_may_be_freed_at_once", calls_may_be_freed_at_once},
        {"objects_may_be_freed_under_those_who_wait", objects_may_be_freed_under_those_who_wait},
        {"ends_come_in_every_order", ends_come_in_every_order},
    };
    return check_all(tests, sizeof tests / sizeof *tests);
}
