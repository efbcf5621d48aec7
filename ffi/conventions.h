/*
 * verifi: the metered way from a security-scan harness to its tools, for C and C++.
 *
 * A program opens a run from its manifest, takes a slot of it and calls tools on the slot. Every call gives a result,
 * whatever happened, and is booked in the run's ledger. Values that have a structure are JSON text.
 *
 * Conventions
 *
 * Text. A verifi_str goes in: pointer and length, UTF-8, checked, read during the call alone; verifi_str_of makes one of
 * a literal. What comes out is a verifi_text, which the caller owns, or a verifi_str that belongs to the object it was
 * asked of. Both have a NUL behind their end.
 *
 * Outputs. A function that may fail returns a verifi_status. Outputs are its last arguments: `out` is written on
 * VERIFI_OK alone, `error` on failure alone, over whatever was there. `error` may be NULL. Calls have no
 * status: verifi_slot_call always gives a result, and verifi_slot_submit always gives a call.
 *
 * NULL. Where an object or an output is needed NULL is VERIFI_NULL_ARGUMENT, or what the function's comment says of NULL.
 *
 * Ownership. Whoever gets an object frees it, once, with the _free function of its type, which takes NULL. The order does
 * not matter: a slot may outlive its run, a call its slot, a result its call. Freeing a call cancels it, freeing a run
 * closes it. No allocator but verifi's own is involved: never use free().
 *
 * Threads. Every function may be called on any thread, also with an object that other threads are using. An object may
 * be freed while verifi_slot_call, verifi_call_wait, verifi_run_next_event or any other function that returns an object
 * or a status is at work with it on another thread: that function still returns, for a run as after a
 * close, for a call as after a cancel.
 * No function may be called with an object after its _free has been called.
 *
 * Blocking. A function blocks only if its comment says so, and then only the thread that called it.
 *
 * Callbacks. There are none: events are pulled with verifi_run_next_event.
 *
 * Fork. A child has the same runs and slots, with connections, ledger and timeline of its own, which begin empty, and
 * with a journal beside its parent's, `PATH.PID`. A verifi_journal is for one of the two: they share its place in the file.
 *
 * Panics. A fault of verifi's own does not cross: it is VERIFI_PANIC or a result that is rejected.
 *
 * This file is made from the source of the library: do not edit it.
 */
