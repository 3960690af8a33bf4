// The client of Redis and the loop over orders. There is nothing to fill in here: see main.c.
#include "lab.h"

#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct redis {
    char host[64], port[16], name[2];
    FILE *stream; // NULL while there is no connection
};

static void *make(size_t size) {
    void *p = calloc(1, size);
    if (p == NULL) abort();
    return p;
}

void reply_free(reply *r) {
    if (r == NULL) return;
    for (size_t i = 0; i < r->count; i++) reply_free(r->items[i]);
    free(r->items);
    free(r->text);
    free(r);
}

static void redis_close(redis *r) {
    if (r->stream != NULL) fclose(r->stream);
    r->stream = NULL;
}

static void redis_connect(redis *r) {
    struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(r->host, r->port, &want, &found) != 0) return;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0) {
        r->stream = fdopen(fd, "r+");
    } else if (fd >= 0) {
        close(fd);
    }
    freeaddrinfo(found);
}

static reply *read_reply(FILE *in) {
    char line[1024];
    if (fgets(line, sizeof line, in) == NULL || strchr(line, '\n') == NULL) return NULL;
    line[strcspn(line, "\r\n")] = '\0';
    reply *r = make(sizeof *r);
    r->kind = line[0];
    r->number = atoll(line + 1);
    if (r->kind == '+' || r->kind == '-') {
        r->text = strdup(line + 1);
    } else if (r->kind != ':' && r->number < 0) {
        r->kind = '0';
    } else if (r->kind == '$') {
        size_t length = (size_t)r->number;
        r->text = make(length + 3);
        if (fread(r->text, 1, length + 2, in) != length + 2) {
            reply_free(r);
            return NULL;
        }
        r->text[length] = '\0';
    } else if (r->kind == '*') {
        r->items = make((size_t)r->number * sizeof *r->items + 1);
        for (; r->count < (size_t)r->number; r->count++) {
            if ((r->items[r->count] = read_reply(in)) == NULL) {
                reply_free(r);
                return NULL;
            }
        }
    }
    return r;
}

reply *redis_send(redis *r, size_t count, const char *const words[]) {
    if (r->stream == NULL) {
        redis_connect(r);
        if (r->stream == NULL) return NULL;
        reply *named = redis_do(r, "CLIENT", "SETNAME", r->name, NULL);
        if (named == NULL) return NULL;
        reply_free(named);
    }
    fprintf(r->stream, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) fprintf(r->stream, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    reply *answer = fflush(r->stream) == 0 ? read_reply(r->stream) : NULL;
    if (answer == NULL) redis_close(r);
    return answer;
}

reply *redis_do(redis *r, ...) {
    const char *words[64];
    size_t count = 0;
    va_list list;
    va_start(list, r);
    for (const char *w; count < 64 && (w = va_arg(list, const char *)) != NULL;) words[count++] = w;
    va_end(list);
    return redis_send(r, count, words);
}

static void open_owner(owner *o, const char *name, char *addresses, const char *key, const char *lease) {
    *o = (owner){0};
    snprintf(o->name, sizeof o->name, "%s", name);
    snprintf(o->key, sizeof o->key, "%s", key);
    snprintf(o->lease_ms, sizeof o->lease_ms, "%s", lease);
    char *rest = NULL, *copy = strdup(addresses);
    for (char *a = strtok_r(copy, ",", &rest); a != NULL && o->master_count < 8; a = strtok_r(NULL, ",", &rest)) {
        redis *r = make(sizeof *r);
        char *colon = strrchr(a, ':');
        snprintf(r->host, sizeof r->host, "%.*s", (int)(colon - a), a);
        snprintf(r->port, sizeof r->port, "%s", colon + 1);
        snprintf(r->name, sizeof r->name, "%s", name);
        o->masters[o->master_count++] = r;
    }
    free(copy);
}

static void say(const char *yes, const char *no, long long outcome, int with_number) {
    if (outcome < 0) {
        printf("%s the connection is lost\n", no);
    } else if (with_number) {
        printf("%s %lld\n", yes, outcome);
    } else {
        printf("%s\n", outcome ? yes : no);
    }
}

int lab_run(const char *name, orders mine) {
    static owner owners[2];
    char line[4096], verb[16], one[2048], two[256], three[24];
    signal(SIGPIPE, SIG_IGN); // a lost connection is an error of write, and not the end of the program
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", name);
    while (fgets(line, sizeof line, stdin) != NULL) {
        one[0] = two[0] = three[0] = '\0';
        sscanf(line, "%15s %2047s %255s %23s", verb, one, two, three);
        owner *o = &owners[one[0] == 'b'];
        if (strcmp(verb, "open") == 0) {
            open_owner(&owners[0], "a", one, two, three);
            open_owner(&owners[1], "b", one, two, three);
            printf("ok\n");
        } else if (strcmp(verb, "take") == 0) {
            say("held", "refused", mine.take(o), 0);
        } else if (strcmp(verb, "release") == 0) {
            say("released", "failed", mine.release(o), 0);
        } else if (strcmp(verb, "count") == 0) {
            say("found", "failed", mine.count(o, two), 1);
        } else if (strcmp(verb, "purge") == 0) {
            say("deleted", "failed", mine.purge(o, two), 1);
        } else if (strcmp(verb, "close") == 0) {
            for (size_t n = 0; n < 2; n++) {
                for (size_t i = 0; i < owners[n].master_count; i++) redis_close(owners[n].masters[i]);
            }
            printf("ok\n");
        }
    }
    return 0;
}
