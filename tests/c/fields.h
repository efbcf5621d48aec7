/* The lines that the driver reads and writes: fields between tabs, and just enough JSON. */
#ifndef FIELDS_H
#define FIELDS_H

#include <stddef.h>

enum { FIELDS = 10 };

/* Bytes with a NUL behind them; there may be others among them. */
struct field {
    char *data;
    size_t len;
};

/* Splits a line at its tabs, in place, and takes out the escapes. Fields that are missing are empty. */
void split_fields(char *line, size_t length, struct field *field);

/* The strings of a JSON array of strings, each to be freed: at most `most`. */
size_t parse_json_strings(const char *json, struct field *strings, size_t most);

/* Prints bytes as a JSON string. */
void print_json_string(const char *data, size_t length);

#endif
