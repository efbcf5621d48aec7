/* What the C tests share: each test is a function; what does not hold is told and counted. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "verifi.h"

/* How many expectations of the test that runs did not hold. Any thread may count. */
extern int check_faults;

#define EXPECT(condition) \
    ((condition) ? (void)0 : check_fault(__FILE__, __LINE__, #condition))

struct check_test {
    const char *name;
    void (*run)(void);
};

void check_fault(const char *file, int line, const char *what);

/* Runs the tests and says of each what came of it. The closing line is `N passed, N failed`; returns the status. */
int check_all(const struct check_test *tests, size_t count);

/* Milliseconds of a clock that only goes forward. */
uint64_t check_now(void);

/* Whether text that was lent is this, and has its NUL. */
bool check_is(verifi_str text, const char *expected);

/* Whether text that was lent has this in it. */
bool check_has(verifi_str text, const char *part);

/* Whether this process comes down to `count` threads within two seconds. */
bool check_threads(int count);

/* Opens a run on the server whose URL is in VERIFI_TEST_SERVER, with these options. NULL, and a fault, when it fails. */
verifi_run *check_run(const char *options);

/* Its slot `kali`. */
verifi_slot *check_slot(const verifi_run *run);

/* A count of the run's ledger, by its name: the first one is the run's own. */
long check_ledger(const verifi_run *run, const char *name);

/* Waits until the run has had `count` events of a kind. */
bool check_events(const verifi_run *run, const char *kind, int count);

#endif
