/* What a sanitizer must find: `faulty leak | read-after-free | overflow`. It ends with 0 when nobody looks. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "verifi.h"

static verifi_text *text(void) {
    verifi_text *text = NULL;
    verifi_secrets_redact(verifi_str_of("some text of verifi's own"), NULL, 0, &text, NULL);
    return text;
}

/* Overwrites what the stack may still have of a pointer. */
static void forget(void) {
    volatile char stack[4096];
    memset((char *)stack, 0, sizeof stack);
}

static void leak(void) {
    verifi_text *lost = text();
    printf("%zu\n", verifi_text_str(lost).len);
}

static void read_after_free(void) {
    verifi_text *freed = text();
    verifi_str lent = verifi_text_str(freed);
    verifi_text_free(freed);
    printf("%c\n", *(volatile const char *)lent.data);
}

static void overflow(int more) {
    volatile int most = INT_MAX;
    printf("%d\n", most + more);
}

int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    if (strcmp(fault, "leak") == 0) {
        leak();
        forget();
    } else if (strcmp(fault, "read-after-free") == 0) {
        read_after_free();
    } else if (strcmp(fault, "overflow") == 0) {
        overflow(argc);
    }
    return 0;
}
