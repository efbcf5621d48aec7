/* One call: cc quickstart.c $(pkg-config --cflags --libs verifi) -o quickstart && ./quickstart "$(cat manifest.json)" */
#include <stdio.h>
#include <verifi.h>

int main(int argc, char **argv) {
    verifi_run *run = NULL;
    verifi_slot *kali = NULL;
    verifi_error *error = NULL;
    if (verifi_run_open(verifi_str_of(argc > 1 ? argv[1] : ""), verifi_str_of(""), &run, &error) != VERIFI_OK ||
        verifi_run_slot(run, verifi_str_of("kali"), &kali, &error) != VERIFI_OK) {
        fprintf(stderr, "%s\n", verifi_error_message(error).data);
        verifi_error_free(error);
        verifi_run_free(run);
        return 1;
    }
    verifi_str arguments = verifi_str_of("{\"command\": \"uname -sr\"}");
    verifi_result *result = verifi_slot_call(kali, verifi_str_of("run_command"), arguments, 0);
    puts(verifi_result_ok(result) ? verifi_result_text(result).data : verifi_result_error(result).data);
    verifi_result_free(result);
    verifi_slot_free(kali);
    verifi_run_free(run);
    return 0;
}
