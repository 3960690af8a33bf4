// Lab 4: the reactor. Fill in accept_all, read_some, parse, write_some and ask.
//
//  epoll_wait ──> listening socket is readable ──> accept
//      ^     ├──> a client is readable         ──> read ──> parse ──> execute ──> write
//      │     └──> a client has room again      ──> write
//      └── no client is ready: sleep here, and nowhere else
#define _GNU_SOURCE // for accept4 and memmem
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// bytes are bytes of any value: nothing here ends with a zero byte.
typedef struct {
    char *at;
    size_t length;
} bytes;

enum { MOST_WORDS = 16, MOST_FILES = 4096 };

// conn is a client: its descriptor, and what waits in either direction.
typedef struct {
    int fd;
    bytes input;  // bytes that are no complete request yet
    bytes output; // replies that the socket has not taken yet
    int ended;    // the client will send no more: it has ended its half
} conn;

static int epoll, listener;
static conn *conns[MOST_FILES]; // by descriptor

// append adds bytes to b.
static void append(bytes *b, const char *at, size_t length) {
    b->at = realloc(b->at, b->length + length + 1);
    if (b->at == NULL) abort();
    memcpy(b->at + b->length, at, length);
    b->length += length;
}

static void check(const char *what, int result) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

// control is epoll_ctl: it says which events of a descriptor end epoll_wait.
static void control(int op, int fd, uint32_t events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    check("epoll_ctl", epoll_ctl(epoll, op, fd, &e));
}

static void todo(const char *what) {
    fprintf(stderr, "%s is not written yet\n", what);
    exit(1);
}

// accept_all takes all connections that wait. The listening socket does not block.
static void accept_all(void) {
    // TODO: until EAGAIN: accept4 with SOCK_NONBLOCK, a conn into conns, and control to ask for EPOLLIN
    todo("accept_all");
}

// read_some reads what there is into c->input. At the end of input it sets c->ended. It returns -1 if the
// connection is broken: EAGAIN is no such error.
static int read_some(conn *c) {
    // TODO: read returns -1 and EAGAIN when nothing is left, and 0 at the end of input
    (void)c;
    todo("read_some");
    return -1;
}

// parse finds the first request in the input of c. It points words into it, and returns how many there are.
// taken is the length of the request. It returns 0 while the request is not complete.
//
//  *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n  is  ECHO hello
//
// A word may have any bytes in it, \r\n as well: only its length says where it ends.
static size_t parse(const conn *c, bytes words[MOST_WORDS], size_t *taken) {
    // TODO
    (void)c, (void)words, (void)taken;
    todo("parse");
    return 0;
}

// write_some sends as much of c->output as the socket takes, and keeps the rest. It returns -1 if the connection
// is broken: EAGAIN is no such error.
static int write_some(conn *c) {
    // TODO: write returns how many bytes it took, or -1 and EAGAIN when there is no room
    (void)c;
    todo("write_some");
    return -1;
}

// ask tells epoll what c waits for: input, or room for output, or both.
static void ask(const conn *c) {
    // TODO: control(EPOLL_CTL_MOD, ...). Ask for nothing that you do not need, or the loop never sleeps.
    (void)c;
    todo("ask");
}

// end_conn ends a connection. The kernel takes it out of epoll.
static void end_conn(conn *c) {
    conns[c->fd] = NULL;
    close(c->fd);
    free(c->input.at);
    free(c->output.at);
    free(c);
}

// data are the keys and their values. A list is enough for a lab.
static struct {
    bytes key, value;
} data[20000];
static size_t keys;

// find returns the place of a key, or keys if there is none.
static size_t find(bytes key) {
    size_t i = 0;
    while (i < keys && (data[i].key.length != key.length || memcmp(data[i].key.at, key.at, key.length) != 0)) i++;
    return i;
}

static void bulk(bytes text, bytes *out) {
    char head[32];
    append(out, head, (size_t)sprintf(head, "$%zu\r\n", text.length));
    append(out, text.at, text.length);
    append(out, "\r\n", 2);
}

static int is(bytes word, const char *name) {
    return word.length == strlen(name) && strncasecmp(word.at, name, word.length) == 0;
}

// execute executes a command, and appends the reply to out. This is complete.
static void execute(const bytes *words, size_t count, bytes *out) {
    if (is(words[0], "PING")) {
        append(out, "+PONG\r\n", 7);
    } else if (is(words[0], "ECHO") && count == 2) {
        bulk(words[1], out);
    } else if (is(words[0], "SET") && count == 3) {
        size_t i = find(words[1]);
        if (i == keys) append(&data[keys++].key, words[1].at, words[1].length);
        data[i].value.length = 0;
        append(&data[i].value, words[2].at, words[2].length);
        append(out, "+OK\r\n", 5);
    } else if (is(words[0], "GET") && count == 2) {
        size_t i = find(words[1]);
        if (i < keys) bulk(data[i].value, out);
        else append(out, "$-1\r\n", 5);
    } else if (is(words[0], "DEBUG") && count == 3) { // DEBUG SLEEP seconds
        double seconds = strtod(words[2].at, NULL);
        struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
        nanosleep(&t, NULL);
        append(out, "+OK\r\n", 5);
    } else {
        append(out, "-ERR unknown command\r\n", 22);
    }
}

// handle serves one client as far as possible without waiting for it.
static void handle(conn *c, uint32_t events) {
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && read_some(c) < 0) {
        end_conn(c);
        return;
    }
    bytes words[MOST_WORDS];
    for (size_t count, taken; (count = parse(c, words, &taken)) > 0;) {
        execute(words, count, &c->output);
        c->input.length -= taken;
        memmove(c->input.at, c->input.at + taken, c->input.length);
    }
    if (write_some(c) < 0 || (c->ended && c->output.length == 0)) {
        end_conn(c);
        return;
    }
    ask(c);
}

// run is the loop. Each turn is one pass over what is ready.
static void run(void) {
    struct epoll_event fired[128];
    for (;;) {
        int n = epoll_wait(epoll, fired, 128, -1);
        for (int i = 0; i < n; i++) {
            int fd = fired[i].data.fd;
            if (fd == listener) accept_all();
            else if (conns[fd] != NULL) handle(conns[fd], fired[i].events);
        }
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int yes = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PORT")))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    check("setsockopt", setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    check("bind", bind(listener, (struct sockaddr *)&to, sizeof to));
    check("listen", listen(listener, 1024));
    check("epoll_create1", epoll = epoll_create1(0));
    control(EPOLL_CTL_ADD, listener, EPOLLIN);
    run();
}
