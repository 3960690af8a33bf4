// Lab 3: threads that share a map. Each client has a thread of its own. Find the races and repair them.
// ThreadSanitizer helps: cc -g -fsanitize=thread -pthread -o main *.c
#define _GNU_SOURCE // for memmem
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// bytes are bytes of any value: nothing here ends with a zero byte.
typedef struct {
    char *at;
    size_t length;
} bytes;

enum { MOST_WORDS = 16 };

// number reads the number of the line at an offset, and moves the offset behind the line. It returns -1 while
// the line is not complete.
static long number(bytes buffer, size_t *at) {
    char *end = *at < buffer.length ? memmem(buffer.at + *at, buffer.length - *at, "\r\n", 2) : NULL;
    if (end == NULL) return -1;
    long n = strtol(buffer.at + *at + 1, NULL, 10);
    *at = (size_t)(end - buffer.at) + 2;
    return n;
}

// parse finds the first request in buffer. It points words into buffer, and returns how many there are. taken is
// the length of the request. It returns 0 while the request is not complete.
static size_t parse(bytes buffer, bytes words[MOST_WORDS], size_t *taken) {
    size_t at = 0;
    long count = number(buffer, &at);
    for (long i = 0; i < count && i < MOST_WORDS; i++) {
        long length = number(buffer, &at);
        if (length < 0 || buffer.length < at + (size_t)length + 2) return 0;
        words[i] = (bytes){buffer.at + at, (size_t)length};
        at += (size_t)length + 2;
    }
    *taken = at;
    return count > 0 ? (size_t)count : 0;
}

// append adds bytes to b.
static void append(bytes *b, const char *at, size_t length) {
    b->at = realloc(b->at, b->length + length + 1);
    if (b->at == NULL) abort();
    memcpy(b->at + b->length, at, length);
    b->length += length;
}

static int equal(bytes a, bytes b) { return a.length == b.length && memcmp(a.at, b.at, a.length) == 0; }

static int is(bytes word, const char *name) {
    return word.length == strlen(name) && strncasecmp(word.at, name, word.length) == 0;
}

// data are the keys and their values. A list is enough for a lab.
static struct {
    bytes key, value;
} data[20000];
static size_t keys;

// find returns the place of a key, or keys if there is none.
static size_t find(bytes key) {
    size_t i = 0;
    while (i < keys && !equal(data[i].key, key)) i++;
    return i;
}

static void set(bytes key, bytes value) {
    size_t i = find(key);
    if (i == sizeof data / sizeof *data) return; // more keys than a lab has
    if (i == keys) append(&data[keys++].key, key.at, key.length);
    data[i].value.length = 0;
    append(&data[i].value, value.at, value.length);
}

// bulk appends the value of a key to out.
static void bulk(bytes key, bytes *out) {
    char head[32];
    size_t i = find(key);
    if (i == keys) {
        append(out, "$-1\r\n", 5);
        return;
    }
    append(out, head, (size_t)sprintf(head, "$%zu\r\n", data[i].value.length));
    append(out, data[i].value.at, data[i].value.length);
    append(out, "\r\n", 2);
}

// rest stands for any other work of a command. Leave it in.
static void rest(void) { usleep(1000); }

// incr adds one to a key, and appends the sum.
static void incr(bytes key, bytes *out) {
    char text[32] = "0";
    size_t i = find(key);
    if (i < keys) snprintf(text, sizeof text, "%.*s", (int)data[i].value.length, data[i].value.at);
    rest();
    int length = sprintf(text, "%ld", atol(text) + 1);
    set(key, (bytes){text, (size_t)length});
    append(out, ":", 1);
    append(out, text, (size_t)length);
    append(out, "\r\n", 2);
}

// execute executes a command, and appends the reply to out. Several threads are in here at the same time.
static void execute(const bytes *words, size_t count, bytes *out) {
    char head[32];
    if (is(words[0], "PING")) {
        append(out, "+PONG\r\n", 7);
    } else if (is(words[0], "GET") && count == 2) {
        bulk(words[1], out);
    } else if (is(words[0], "INCR") && count == 2) {
        incr(words[1], out);
    } else if (is(words[0], "SETNX") && count == 3) {
        int found = find(words[1]) < keys;
        rest();
        if (!found) set(words[1], words[2]);
        append(out, found ? ":0\r\n" : ":1\r\n", 4);
    } else if (is(words[0], "MSET")) {
        for (size_t i = 1; i + 1 < count; i += 2) {
            set(words[i], words[i + 1]);
            rest();
        }
        append(out, "+OK\r\n", 5);
    } else if (is(words[0], "MGET")) {
        append(out, head, (size_t)sprintf(head, "*%zu\r\n", count - 1));
        for (size_t i = 1; i < count; i++) {
            bulk(words[i], out);
            rest();
        }
    } else {
        append(out, "-ERR unknown command\r\n", 22);
    }
}

// serve serves one client until it leaves.
static void serve(int fd) {
    bytes input = {0}, output = {0}, words[MOST_WORDS];
    char chunk[65536];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) {
        append(&input, chunk, (size_t)n);
        size_t count, taken, done = 0;
        while ((count = parse((bytes){input.at + done, input.length - done}, words, &taken)) > 0) {
            execute(words, count, &output); // TODO: somewhere here
            done += taken;
        }
        input.length -= done;
        memmove(input.at, input.at + done, input.length);
        for (size_t sent = 0; sent < output.length;) {
            ssize_t part = write(fd, output.at + sent, output.length - sent);
            if (part < 0) break; // the client has left: read says so
            sent += (size_t)part;
        }
        output.length = 0;
    }
    free(input.at);
    free(output.at);
    close(fd);
}

static void *client(void *fd) {
    serve((int)(long)fd);
    return NULL;
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PORT")))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&to, sizeof to) != 0 || listen(listener, 256) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        pthread_t thread;
        if (fd >= 0 && pthread_create(&thread, NULL, client, (void *)(long)fd) == 0) pthread_detach(thread);
    }
}
