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


#ifndef VERIFI_H
#define VERIFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the ABI that this header describes: the number in `libverifi.so.N`. It grows when a program that was
// built against an older header would no longer work. `verifi_version_abi` tells that of the library that is loaded.
#define VERIFI_ABI_VERSION 1

// A call that was submitted. It goes on by itself. Usable from any thread until it is freed with verifi_call_free.
typedef struct verifi_call verifi_call;

// What went wrong in a function that returns a verifi_status. Usable from any thread until it is freed with
// verifi_error_free.
typedef struct verifi_error verifi_error;

// A journal that is read, and how far it was. It needs no run. Usable from any thread until it is freed with
// verifi_journal_free.
typedef struct verifi_journal verifi_journal;

// The result of a call. There is one for every call, whatever happened; secrets are scrubbed from all its text. Usable
// from any thread until it is freed with verifi_result_free.
typedef struct verifi_result verifi_result;

// One scan job: the slots that the platform bound to it, its ledger and its timeline. Usable from any thread until it is
// freed with verifi_run_free.
typedef struct verifi_run verifi_run;

// A named capability of a run, and the servers that the manifest bound to it. Slots of the same name of one run are the
// same: one session with each server, one failover state. Usable from any thread until it is freed with
// verifi_slot_free, also after its run is closed or freed: its calls are then rejected.
typedef struct verifi_slot verifi_slot;

// Text that verifi made, in UTF-8. Usable from any thread until it is freed with verifi_text_free.
typedef struct verifi_text verifi_text;

// Text in UTF-8, by pointer and length. It owns nothing.
//
// As an argument it is read during the call and not kept. `{NULL, 0}` is empty text. As a return value it belongs to the
// object that it was asked of, lasts until that object is freed, and has a NUL behind its end; `data` is NULL where
// there is no such text. The text itself may have a NUL in it, too: `len` counts.
typedef struct {
  // The first byte.
  const char *data;
  // How many bytes there are, without a NUL behind them.
  size_t len;
} verifi_str;

// What became of a function that may fail. Numbers are fixed; new ones are only appended, so expect others than these.
// Those below 100 are the same in every language that verifi is used from.
//
// Every status but VERIFI_OK, VERIFI_NOT_YET and VERIFI_ENDED comes with a verifi_error, if one was asked for.
typedef uint32_t verifi_status;

// How a call ended. Numbers are fixed; new ones are only appended, so expect others than these.
typedef uint32_t verifi_outcome;

// Which of a slot's servers answered. Numbers are fixed; new ones are only appended, so expect others than these.
typedef uint32_t verifi_server;

// It was done, and the outputs are written.
#define VERIFI_OK 0

// The manifest is not one: the message names the member and what is wrong with it.
#define VERIFI_MANIFEST 1

// An option of the run is not one: the message names it.
#define VERIFI_OPTIONS 2

// The manifest has no server for the slot.
#define VERIFI_SLOT_NOT_FILLED 3

// No server of the slot gave a list of its tools.
#define VERIFI_LIST_TOOLS 4

// A journal cannot be opened or read, or does not hold: the message names the file and the line.
#define VERIFI_JOURNAL 5

// An argument is NULL that must not be: the message names it.
#define VERIFI_NULL_ARGUMENT 100

// A text that was given is not UTF-8, or its length cannot be one: the message names the argument.
#define VERIFI_INVALID_UTF8 101

// An argument is not what it must be: the message names it.
#define VERIFI_INVALID_ARGUMENT 102

// A fault of verifi's own, caught where it met C. The message is for a report of it; the object can still be freed.
#define VERIFI_PANIC 103

// Nothing has happened yet: ask again. No error.
#define VERIFI_NOT_YET 200

// Nothing more will come. No error.
#define VERIFI_ENDED 201

// The tool ran and answered.
#define VERIFI_OUTCOME_OK 0

// The tool ran and reported an error of its own.
#define VERIFI_OUTCOME_TOOL_ERROR 1

// The server answered with a JSON-RPC error.
#define VERIFI_OUTCOME_REFUSED 2

// No answer came: DNS, connect, TLS, HTTP status, or a body that was cut or is not MCP.
#define VERIFI_OUTCOME_UNREACHABLE 3

// The deadline passed.
#define VERIFI_OUTCOME_TIMED_OUT 4

// The caller cancelled the call.
#define VERIFI_OUTCOME_CANCELLED 5

// verifi did not send the call, or did not take its answer.
#define VERIFI_OUTCOME_REJECTED 6

// None did.
#define VERIFI_SERVER_NONE 0

// The first one of the slot.
#define VERIFI_SERVER_PRIMARY 1

// Any later one.
#define VERIFI_SERVER_FALLBACK 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The text that ends with a NUL, such as a literal, as an argument for another function. NULL is empty text.
//
// It points to the same bytes: they must stay as long as the verifi_str is used.
verifi_str verifi_str_of(const char *text);

// The text itself, which lasts until `text` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_text_str(const verifi_text *text);

// Frees the text. NULL is nothing to free.
void verifi_text_free(verifi_text *text);

// The status that the function returned. VERIFI_OK for NULL.
verifi_status verifi_error_status(const verifi_error *error);

// What was wrong and where, in one line, without secrets. It lasts until `error` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_error_message(const verifi_error *error);

// Frees the error. NULL is nothing to free.
void verifi_error_free(verifi_error *error);

// Whether the tool ran and was content. False for NULL.
bool verifi_result_ok(const verifi_result *result);

// The content of the answer as text: text blocks as they are, others as compact JSON, joined by LF. Empty when no answer
// came. It lasts until `result` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_result_text(const verifi_result *result);

// What went wrong; `{NULL, 0}` when the result is ok, and for NULL. It lasts until `result` is freed.
verifi_str verifi_result_error(const verifi_result *result);

// The JSON-RPC result, or error object, as the JSON text that the server sent, strings scrubbed; `{NULL, 0}` when there
// was no response, and for NULL. It lasts until `result` is freed.
verifi_str verifi_result_raw(const verifi_result *result);

// How the call ended. VERIFI_OUTCOME_REJECTED for NULL.
verifi_outcome verifi_result_outcome(const verifi_result *result);

// The name of the outcome, as events and JSON have it: `ok`, `tool_error`, `refused`, `unreachable`, `timed_out`,
// `cancelled` or `rejected`. It lasts until `result` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_result_outcome_name(const verifi_result *result);

// Whether the server reported the failure: a tool error, or a refusal. False when no answer came, and for NULL.
bool verifi_result_is_error(const verifi_result *result);

// How long the whole call took, in milliseconds, failover included. 0 for NULL.
double verifi_result_latency_ms(const verifi_result *result);

// Which server answered. VERIFI_SERVER_NONE when none did, and for NULL.
verifi_server verifi_result_server(const verifi_result *result);

// Whether the call was sent and its fate is unknown: the tool may have run, or still run. False for NULL.
bool verifi_result_may_have_run(const verifi_result *result);

// How many occurrences of secrets were replaced in the text, or in the error when there is no text. 0 for NULL.
uint64_t verifi_result_redactions(const verifi_result *result);

// The whole result as a JSON object: `ok`, `text`, `isError`, `latencyMs`, `error`, `raw`, `outcome`, `server`,
// `mayHaveRun` and `redactions`; what does not apply is absent. The caller frees it.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_result_to_json(const verifi_result *result,
                                    verifi_text **out,
                                    verifi_error **error);

// Frees the result. NULL is nothing to free.
void verifi_result_free(verifi_result *result);

// Waits for the result, `wait_ms` milliseconds at the most: 0 looks whether it is there, UINT64_MAX waits as long as it
// takes. NULL when it is not there yet, and for NULL. The caller frees the result. It can be asked for again, by other
// threads, too; each time there is one to be freed.
//
// It blocks this thread. When another thread frees the call meanwhile it returns within 200 ms.
verifi_result *verifi_call_wait(const verifi_call *call,
                                uint64_t wait_ms);

// Cancels the call: within 200 ms it has its result, whose outcome is `cancelled`. A call that has ended keeps the
// result it has. It does not block. NULL is nothing to cancel.
void verifi_call_cancel(const verifi_call *call);

// Frees the call, and cancels it if it is under way: its result is then on the timeline alone. It does not block. NULL
// is nothing to free.
void verifi_call_free(verifi_call *call);

// The slot's name, as the manifest has it. It lasts until `slot` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_slot_name(const verifi_slot *slot);

// The MCP endpoint of the slot's first server, with its query. It lasts until `slot` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_slot_endpoint(const verifi_slot *slot);

// Calls a tool and waits for its result, `timeout_ms` milliseconds at the most (0: the run's own limit, 300 s unless
// set), which each further server has again after a failure. `arguments` is a JSON object as text; empty is none.
//
// It always gives a result, which the caller frees: a dead server, arguments that are no JSON object, a closed run and a
// `slot` that is NULL are results, too. It blocks this thread alone. verifi_run_close ends it from another thread, and so
// does verifi_run_free; for a call that can be cancelled by itself use verifi_slot_submit.
verifi_result *verifi_slot_call(const verifi_slot *slot,
                                verifi_str tool,
                                verifi_str arguments,
                                uint64_t timeout_ms);

// Calls a tool on a thread of verifi's own and does not wait: see verifi_slot_call for the arguments and
// verifi_call_wait for the result.
//
// It always gives a call, which the caller frees.
verifi_call *verifi_slot_submit(const verifi_slot *slot,
                                verifi_str tool,
                                verifi_str arguments,
                                uint64_t timeout_ms);

// The names of the slot's tools as a JSON array, following the list to its end. Each server has `timeout_ms`
// milliseconds (0: the run's own limit). It blocks this thread; closing the run ends it. The caller frees the text.
//
// Errors: VERIFI_LIST_TOOLS when no server gave a list (the message has each server's cause in order),
// VERIFI_NULL_ARGUMENT.
verifi_status verifi_slot_list_tools(const verifi_slot *slot,
                                     uint64_t timeout_ms,
                                     verifi_text **out,
                                     verifi_error **error);

// The definitions of the slot's tools as a JSON array, each as its server gives it, strings scrubbed. Otherwise like
// verifi_slot_list_tools.
verifi_status verifi_slot_tool_definitions(const verifi_slot *slot,
                                           uint64_t timeout_ms,
                                           verifi_text **out,
                                           verifi_error **error);

// What verifi knows of each of the slot's servers, in the order in which they are tried, as a JSON array of objects:
// `server`, `endpoint`, `state` (`unused`, `healthy` or `dead`), `since`, `reason` and `protocolVersion`. It asks no
// server. The caller frees the text.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_slot_health(const verifi_slot *slot,
                                 verifi_text **out,
                                 verifi_error **error);

// Frees the slot; its calls go on. NULL is nothing to free.
void verifi_slot_free(verifi_slot *slot);

// Opens a run from a manifest, which is a JSON object as text. It connects to nothing yet.
//
// `options` is a JSON object, too: `timeoutMs`, `maxResponseBytes`, `secrets` (array of strings), `elicitation`
// (`"decline"` or `"defaults"`), `replay` (`"always"` or `"safe"`), `retryPrimaryAfterMs`, `journal` (a path) and `sync`
// (`"none"`, `"finish"` or `"always"`). Each may be absent, and empty text is the defaults. What is scrubbed from all that
// the run's servers say: the secrets of the process's environment, those of the options, the headers of the manifest, and
// the client secrets in it with each token that comes for them. The caller frees the run.
//
// A fill of the manifest may have `auth`: `tokenUrl`, `clientId`, `clientSecret` and, if the server wants one, `scope`. The
// server's tokens are then fetched by OAuth's client credentials.
//
// The journal is a file that has each event before its effect: what a server has seen is in it, whatever ends the
// process. One that is there already must be of the same run, which goes on where it ended; reading it blocks this
// thread. Without `journal` there is none. `sync` is when it is forced onto the disk. `none`: never; it survives the end
// of the process, by a signal too, but a power cut may take the last seconds. `finish`, the default: when the run is
// closed; a closed run survives a power cut as well. `always`: after each event, before its effect; a power cut loses
// nothing, and each event takes as long as the disk does.
//
// Errors: VERIFI_MANIFEST, VERIFI_OPTIONS, VERIFI_JOURNAL (it cannot be opened, is in use, is of another run, or does not
// hold), VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
verifi_status verifi_run_open(verifi_str manifest,
                              verifi_str options,
                              verifi_run **out,
                              verifi_error **error);

// The run's id, as the manifest has it. It lasts until `run` is freed. `{NULL, 0}` for NULL.
verifi_str verifi_run_id(const verifi_run *run);

// The slot of that name. The caller frees it; it may outlive the run.
//
// Errors: VERIFI_SLOT_NOT_FILLED when the manifest has no server for it, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
verifi_status verifi_run_slot(const verifi_run *run,
                              verifi_str name,
                              verifi_slot **out,
                              verifi_error **error);

// The names of the slots that the manifest fills, sorted, as a JSON array. The caller frees the text.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_run_slot_names(const verifi_run *run,
                                    verifi_text **out,
                                    verifi_error **error);

// What the run has used so far, as a JSON object: `runId`, `toolCalls`, `failures`, `evidenceBytes`, `latencyMs` and
// `slots`, which has the same for each slot, and there in `tools` for each tool. The caller frees the text.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_run_ledger(const verifi_run *run,
                                verifi_text **out,
                                verifi_error **error);

// The run's latest 10 000 events, in order, as a JSON array. The caller frees the text.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_run_events(const verifi_run *run, verifi_text **out, verifi_error **error);

// The run's next event as a JSON object, from `run_started` to `run_finished`, each once; a run that goes on with its
// journal begins with the latest 10 000 before. It waits `wait_ms` milliseconds at the most: 0 looks whether there is one,
// UINT64_MAX waits as long as it takes. The caller frees the text.
//
// It blocks this thread and holds up no call. Threads that ask at the same time share the events: each goes to one of
// them. Who falls more than 10 000 events behind loses the oldest, which shows as a gap in `seq`.
//
// VERIFI_NOT_YET when no event came in time, VERIFI_ENDED after `run_finished`; both without an error. Errors:
// VERIFI_NULL_ARGUMENT.
verifi_status verifi_run_next_event(const verifi_run *run,
                                    uint64_t wait_ms,
                                    verifi_text **out,
                                    verifi_error **error);

// Puts a line of the harness's own on the timeline, scrubbed. On a closed run it does nothing.
//
// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
verifi_status verifi_run_log(const verifi_run *run, verifi_str line, verifi_error **error);

// Ends the run: calls under way come back as cancelled, on whatever thread they are, sessions are ended with their
// servers, `run_finished` is recorded and secrets are wiped. Ledger and events can still be read; later calls are
// rejected. It blocks this thread for 2 s at the most. A second call does nothing.
//
// Errors: VERIFI_NULL_ARGUMENT.
verifi_status verifi_run_close(const verifi_run *run,
                               verifi_error **error);

// Closes the run, as verifi_run_close does, and frees it. When the last run of the process is freed and the calls have
// ended, the threads that verifi made end. NULL is nothing to free.
void verifi_run_free(verifi_run *run);

// Checks the journal at `path` from its first line to its last, and tells what came of it as a JSON object: `events` (how
// many hold: those before the first fault), `missing` (how many the file itself says it lacks), `ok`, `head` (the hash of
// the last line that holds; kept elsewhere it shows later whether lines were cut off at the end) and, unless `ok`, `fault`
// with `line` (1 is the first) and `what`. The caller frees the text.
//
// That the file does not hold is VERIFI_OK. Nothing is changed; a journal that is being written may be checked, too. It
// blocks this thread for as long as reading the file takes, and needs the memory of a line.
//
// Errors: VERIFI_JOURNAL when the file cannot be read, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
verifi_status verifi_journal_verify(verifi_str path,
                                    verifi_text **out,
                                    verifi_error **error);

// Opens the journal at `path` to read its events from the first on. The caller frees the journal.
//
// Errors: VERIFI_JOURNAL when the file cannot be opened, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
verifi_status verifi_journal_open(verifi_str path, verifi_journal **out, verifi_error **error);

// The journal's next event as a JSON object, as verifi_run_next_event gives it, once its line was checked. The caller
// frees the text.
//
// It blocks this thread for as long as reading a line takes. Threads that ask at the same time share the events: each
// goes to one of them.
//
// VERIFI_ENDED at the end of the file, without an error. Errors: VERIFI_JOURNAL when the file cannot be read and at the
// first line that does not hold, a last one that was not written to its end among them (the message has its number; from
// then on it is VERIFI_ENDED), VERIFI_NULL_ARGUMENT.
verifi_status verifi_journal_next(const verifi_journal *journal,
                                  verifi_text **out,
                                  verifi_error **error);

// Frees the journal; its file stays as it is. NULL is nothing to free.
void verifi_journal_free(verifi_journal *journal);

// `text` with `[REDACTED]` in the place of every occurrence of every one of the `count` secrets, as they stand;
// occurrences that overlap are replaced together. Secrets shorter than 4 characters are skipped. It takes time in
// proportion to the text and the secrets. A run does this, and more, by itself to all that its servers say. The caller
// frees the result.
//
// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8, VERIFI_INVALID_ARGUMENT for a count that is none.
verifi_status verifi_secrets_redact(verifi_str text,
                                    const verifi_str *secrets,
                                    size_t count,
                                    verifi_text **out,
                                    verifi_error **error);

// The values of an environment whose names say that they are secrets, as a JSON array of strings. `environment` is a JSON
// object of strings; empty text stands for the environment of this process, whose secrets a run finds by itself. The
// caller frees the text.
//
// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8, VERIFI_INVALID_ARGUMENT for what is no JSON object of strings.
verifi_status verifi_secrets_collect(verifi_str environment,
                                     verifi_text **out,
                                     verifi_error **error);

// The version of the library, such as `0.1.0`. It lasts as long as the process.
verifi_str verifi_version_package(void);

// The version that verifi names in the MCP handshake. It lasts as long as the process.
verifi_str verifi_version_sdk(void);

// The VERIFI_ABI_VERSION that the library was built with.
uint32_t verifi_version_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VERIFI_H */
