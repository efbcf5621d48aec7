/*
 * A sweep as a harness in C writes it: `sweep SERVER`, SERVER being the program that serves the demo's tools.
 *
 * Two servers are started. The calls of a stage run at once; between the stages the first server is killed, and the run
 * goes on with the second. Nothing here needs a network. `make demo-c` builds it against the installed library.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <verifi.h>

/* The name says that it is a secret, so the run finds it in its environment by itself. */
#define VARIABLE "SCANNER_TOKEN"
#define SECRET "sct-9f27c41be05d83aa"

enum { STEPS = 7 };

struct server {
    char endpoint[64];
    int port;
    pid_t pid;
    int input;
};

struct totals {
    int failovers, calls, leaks;
    uint64_t redactions;
};

static const char *const before[STEPS] = {"uname -sr", "openssl version", "getent hosts localhost", "check_port",
                                          "cat target.conf", "openssl base64 -A -in target.conf", "nikto"};
static const char *const after[STEPS] = {"getent services https", "check_port", "openssl ciphers -v",
                                         "cat no-such-file", "nmap -sV localhost", "id -un", "date -u"};

static void give_up(const char *what) {
    fprintf(stderr, "sweep: %s\n", what);
    exit(1);
}

/* Starts the program, which ends when this one does: its standard input is a pipe from here. */
static struct server start(const char *program, const char *workspace) {
    struct server server = {.pid = -1};
    int input[2], output[2];
    if (pipe(input) != 0 || pipe(output) != 0 || (server.pid = fork()) < 0) {
        give_up("no server can be started");
    }
    if (server.pid == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        close(input[1]);
        execl(program, program, workspace, (char *)NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    server.input = input[1];
    FILE *said = fdopen(output[0], "r");
    if (said == NULL || fscanf(said, "%63s %d", server.endpoint, &server.port) != 2) {
        give_up("the server does not say where it is");
    }
    fclose(said);
    return server;
}

static void end(struct server *server, int number) {
    kill(server->pid, number);
    close(server->input);
    waitpid(server->pid, NULL, 0);
}

/* Puts a step of the sweep to the box. */
static verifi_call *submit(const verifi_slot *kali, const char *step, int port) {
    char arguments[256];
    const char *tool = strchr(step, ' ') ? "run_command" : step;
    if (strcmp(tool, "check_port") == 0) {
        snprintf(arguments, sizeof arguments, "{\"port\": %d}", port);
    } else {
        snprintf(arguments, sizeof arguments, "{\"command\": \"%s\"}", step);
    }
    return verifi_slot_submit(kali, verifi_str_of(tool), verifi_str_of(arguments), 60000);
}

/* Of `$ COMMAND`, `(exit N)` and the output this is the first line of the output. */
static const char *summary(const char *text) {
    const char *line = strncmp(text, "$ ", 2) == 0 ? strchr(text, '\n') : NULL;
    line = line ? strchr(line + 1, '\n') : NULL;
    return line && line[1] ? line + 1 : text;
}

static void show(const char *step, const verifi_result *result) {
    static const char *const servers[] = {"-", "primary", "fallback"};
    const char *text = verifi_result_ok(result) ? verifi_result_text(result).data : verifi_result_error(result).data;
    const char *line = summary(text);
    printf("%-36s %-11s %-8s %7.1f ms  %.*s\n", step, verifi_result_outcome_name(result).data,
           servers[verifi_result_server(result) % 3], verifi_result_latency_ms(result), (int)strcspn(line, "\n"), line);
}

/* The calls of a stage run at once, and are shown in their order. */
static void take(const verifi_slot *kali, const char *const *steps, int port, struct totals *totals) {
    verifi_call *calls[STEPS];
    for (int i = 0; i < STEPS; i++) {
        calls[i] = submit(kali, steps[i], port);
    }
    for (int i = 0; i < STEPS; i++) {
        verifi_result *result = verifi_call_wait(calls[i], UINT64_MAX);
        show(steps[i], result);
        totals->redactions += verifi_result_redactions(result);
        totals->leaks += strstr(verifi_result_text(result).data, SECRET) != NULL;
        verifi_result_free(result);
        verifi_call_free(calls[i]);
    }
}

struct listener {
    const verifi_run *run;
    struct totals *totals;
};

/* Hears the run's events until it has finished. */
static void *listen_to(void *argument) {
    struct listener *listener = argument;
    verifi_text *event = NULL;
    while (verifi_run_next_event(listener->run, UINT64_MAX, &event, NULL) == VERIFI_OK) {
        const char *json = verifi_text_str(event).data;
        listener->totals->calls += strstr(json, "\"kind\":\"call_finished\"") != NULL;
        if (strstr(json, "\"kind\":\"mcp.fallback_used\"") != NULL) {
            listener->totals->failovers++;
            printf("! %s\n", json);
        }
        verifi_text_free(event);
    }
    return NULL;
}

static verifi_run *open_run(const struct server *primary, const struct server *fallback) {
    char manifest[512];
    verifi_run *run = NULL;
    verifi_error *error = NULL;
    snprintf(manifest, sizeof manifest,
             "{\"runId\": \"sweep-c\", \"slotFills\": {\"kali\": {\"endpoint\": \"%s\", \"fallback\": \"%s\"}}}",
             primary->endpoint, fallback->endpoint);
    if (verifi_run_open(verifi_str_of(manifest), verifi_str_of(""), &run, &error) != VERIFI_OK) {
        give_up(verifi_error_message(error).data);
    }
    return run;
}

/* Prints the ledger; how many calls it has. */
static int show_ledger(const verifi_run *run) {
    int calls = -1;
    verifi_text *ledger = NULL;
    if (verifi_run_ledger(run, &ledger, NULL) != VERIFI_OK) {
        give_up("there is no ledger");
    }
    const char *json = verifi_text_str(ledger).data;
    printf("%s\n", json);
    sscanf(strstr(json, "\"toolCalls\":"), "\"toolCalls\":%d", &calls);
    verifi_text_free(ledger);
    return calls;
}

static void sweep(struct server *primary, struct server *fallback) {
    struct totals totals = {0, 0, 0, 0};
    verifi_run *run = open_run(primary, fallback);
    verifi_slot *kali = NULL;
    struct listener listener = {run, &totals};
    pthread_t thread;
    if (verifi_run_slot(run, verifi_str_of("kali"), &kali, NULL) != VERIFI_OK ||
        pthread_create(&thread, NULL, listen_to, &listener) != 0) {
        give_up("the run cannot begin");
    }
    printf("run %s on kali: %s, else %s\n", verifi_run_id(run).data, primary->endpoint, fallback->endpoint);
    take(kali, before, primary->port, &totals);
    end(primary, SIGKILL);
    take(kali, after, primary->port, &totals);
    verifi_run_close(run, NULL);
    pthread_join(thread, NULL);
    int calls = show_ledger(run);
    printf("failovers announced: %d; secrets replaced: %d, let through: %d\n", totals.failovers,
           (int)totals.redactions, totals.leaks);
    if (calls != totals.calls || totals.failovers != 1 || totals.redactions == 0 || totals.leaks != 0) {
        give_up("this does not add up");
    }
    verifi_slot_free(kali);
    verifi_run_free(run);
}

int main(int argc, char **argv) {
    char workspace[] = "/tmp/verifi-sweep-XXXXXX", path[64];
    if (argc != 2 || mkdtemp(workspace) == NULL || setenv(VARIABLE, SECRET, 1) != 0) {
        give_up("usage: sweep SERVER");
    }
    snprintf(path, sizeof path, "%s/target.conf", workspace);
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "token = %s\nhost = scanner.internal\n", SECRET) < 0 || fclose(file) != 0) {
        give_up("the workspace cannot be written");
    }
    struct server primary = start(argv[1], workspace), fallback = start(argv[1], workspace);
    sweep(&primary, &fallback);
    end(&fallback, SIGTERM);
    unlink(path);
    rmdir(workspace);
    return 0;
}
