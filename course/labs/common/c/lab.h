// What every lab about lock clients shares: a small client of Redis, and the orders of the grader.
#ifndef LAB_H
#define LAB_H

#include <stddef.h>

// reply is a reply of the server. Free it with reply_free.
typedef struct reply {
    char kind;            // '+' status, '-' error, ':' number, '$' text, '*' list, '0' no value
    long long number;     // of ':'
    char *text;           // of '+', '-' and '$', with a zero byte behind it
    size_t count;         // of '*'
    struct reply **items; // of '*'
} reply;

// redis is one connection. It connects when it is used, and again after it was lost.
typedef struct redis redis;

// redis_do sends a command, whose words end with NULL, and returns the reply, or NULL if the connection is lost.
__attribute__((sentinel)) reply *redis_do(redis *r, ...);

// redis_send is redis_do with an array of words.
reply *redis_send(redis *r, size_t count, const char *const words[]);

void reply_free(reply *r);

// owner is what the lock of an owner needs to know.
typedef struct {
    char name[2]; // a or b
    size_t master_count;
    redis *masters[8];
    char key[256];
    char lease_ms[24];
    char token[64]; // for you
} owner;

// What you write. The functions return 1 or 0, or a number, and -1 if the connection is lost.
typedef struct {
    int (*take)(owner *o);
    int (*release)(owner *o);
    long long (*count)(owner *o, const char *pattern); // lab 5 only, as the next one
    long long (*purge)(owner *o, const char *pattern);
} orders;

// lab_run obeys the orders of the grader.
int lab_run(const char *name, orders mine);

#endif
