// Lab 5: find all keys of a pattern, and let others work meanwhile. Fill in count and purge.
#include "lab.h"

// count returns how many keys match.
static long long count(owner *o, const char *pattern) {
    // TODO: redis_do(o->masters[0], "SCAN", cursor, ..., NULL) returns a list with two items: the next cursor as
    // text, and the names as a list. Free the reply when you have copied what you need.
    (void)o;
    (void)pattern;
    return 0;
}

// purge deletes the keys that match, and returns how many it deleted.
static long long purge(owner *o, const char *pattern) {
    // TODO: redis_send(o->masters[0], n, words) with UNLINK and names returns how many keys were there
    (void)o;
    (void)pattern;
    return 0;
}

int main(void) { return lab_run("my search in C", (orders){.count = count, .purge = purge}); }
