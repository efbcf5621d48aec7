/* Another Rust library in the same program. */
#include <stdlib.h>

#include "check.h"

extern uint32_t other_answer(void);

/* Rule 7.1. */
static void two_rust_libraries_work_in_one_program(void) {
    EXPECT(other_answer() == 42);
    verifi_run *run = check_run("");
    verifi_slot *slot = check_slot(run);
    verifi_result *result = verifi_slot_call(slot, verifi_str_of("echo"), verifi_str_of("{\"text\":\"hi\"}"), 0);
    EXPECT(check_is(verifi_result_text(result), "hi"));
    verifi_result_free(result);
    verifi_slot_free(slot);
    verifi_run_free(run);
    EXPECT(other_answer() == 42);
}

int main(void) {
    static const struct check_test tests[] = {
        {"two_rust_libraries_work_in_one_program", two_rust_libraries_work_in_one_program},
    };
    return check_all(tests, 1);
}
