#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char unescaped(char letter) {
    switch (letter) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case '0': return '\0';
    default: return letter;
    }
}

void split_fields(char *line, size_t length, struct field *field) {
    static char nothing[1];
    char *end = line + length;
    size_t count = 0;
    if (length > 0 && end[-1] == '\n') {
        *--end = 0;
    }
    for (char *from = line; from <= end && count < FIELDS; count++) {
        char *to = from;
        field[count].data = from;
        for (; from < end && *from != '\t'; from++) {
            *to++ = *from == '\\' && from + 1 < end ? unescaped(*++from) : *from;
        }
        field[count].len = (size_t)(to - field[count].data);
        from++;
        *to = 0;
    }
    for (; count < FIELDS; count++) {
        field[count] = (struct field){nothing, 0};
    }
}

static size_t put_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The four digits at `from`. */
static unsigned hex(const char *from) {
    char digits[5] = {0};
    memcpy(digits, from, 4);
    return (unsigned)strtoul(digits, NULL, 16);
}

/* Reads an escape behind its backslash; gives where it ends. */
static const char *read_escape(const char *from, struct field *string) {
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (*from != 'u') {
        const char *name = strchr(names, *from);
        string->data[string->len++] = name && *name ? meant[name - names] : *from;
        return from + 1;
    }
    unsigned code = hex(from + 1);
    from += 5;
    if (code >= 0xD800 && code < 0xDC00 && from[0] == '\\' && from[1] == 'u') {
        code = 0x10000 + ((code - 0xD800) << 10) + (hex(from + 2) - 0xDC00);
        from += 6;
    }
    string->len += put_utf8(string->data + string->len, code);
    return from;
}

size_t parse_json_strings(const char *json, struct field *strings, size_t most) {
    size_t count = 0;
    for (const char *from = strchr(json, '"'); from != NULL && count < most; from = strchr(from, '"'), count++) {
        /* No escape is shorter than what it stands for. */
        strings[count] = (struct field){malloc(strlen(from) + 1), 0};
        for (from++; *from != '"';) {
            if (*from == '\\') {
                from = read_escape(from + 1, &strings[count]);
            } else {
                strings[count].data[strings[count].len++] = *from++;
            }
        }
        from++;
        strings[count].data[strings[count].len] = 0;
    }
    return count;
}

void print_json_string(const char *data, size_t length) {
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)data[i];
        if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte < 0x20) {
            printf("\\u%04x", byte);
        } else {
            putchar(byte);
        }
    }
    putchar('"');
}
