// Lab 12: I/O threads. Fill in the barrier, and take accept_all, read_some, parse and write_some from your lab 4.
//
//  epoll_wait ──> collect ──> share out ──┬── main reads and parses ──┬── barrier ──> execute ──> write
//                                         ├── thread 1 does, too      │
//                                         └── thread 2 does, too ─────┘
#define _GNU_SOURCE // for accept4 and memmem
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
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

// explanation is the reply to EXPLAIN. Its first line is "cores N".
static const char explanation[] =
    "cores 0\nTODO: which part of a request gets faster with more threads here, which does not, and why?";

// bytes are bytes of any value: nothing here ends with a zero byte.
typedef struct {
    char *at;
    size_t length;
} bytes;

enum { MOST_WORDS = 16, MOST_FILES = 4096, MOST_THREADS = 64 };

// request is a parsed request. Its words are copies: the input goes on.
typedef struct request {
    struct request *next;
    size_t count;
    bytes words[MOST_WORDS];
} request;

// conn is a client. During the phase of the threads only its thread touches it, and else only main.
typedef struct {
    int fd;
    bytes input, output;
    request *first, *last; // parsed, and not executed yet
    int ended, broken;
} conn;

static int epoll, listener;
static conn *conns[MOST_FILES]; // by descriptor

// share is what one thread has to do: some of the readable clients.
typedef struct {
    conn *clients[MOST_FILES];
    size_t count;
    int given; // main has given it, and the thread has not taken it
} share;

// pool has the threads besides main. Thread i works on shares[i], and main on shares[0].
static struct {
    int threads; // main included
    share shares[MOST_THREADS];
    pthread_mutex_t mutex;
    pthread_cond_t given;
    // TODO: what the barrier needs
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .given = PTHREAD_COND_INITIALIZER};

static void todo(const char *what) {
    fprintf(stderr, "%s is not written yet\n", what);
    exit(1);
}

// accept_all takes all connections that wait.
static void accept_all(void) { todo("accept_all: take it from your lab 4"); }

// read_some reads what there is into c->input, and sets c->ended at the end of input.
static int read_some(conn *c) {
    (void)c;
    todo("read_some: take it from your lab 4");
    return -1;
}

// parse takes one request out of c->input. It returns NULL while the request is not complete.
static request *parse(conn *c) {
    (void)c;
    todo("parse: take it from your lab 4, and copy the words");
    return NULL;
}

// write_some sends as much of c->output as the socket takes.
static int write_some(conn *c) {
    (void)c;
    todo("write_some: take it from your lab 4");
    return -1;
}

static void append(bytes *b, const char *at, size_t length) {
    b->at = realloc(b->at, b->length + length + 1);
    if (b->at == NULL) abort();
    memcpy(b->at + b->length, at, length);
    b->length += length;
}

// execute executes a command: those of lab 4, INCR, and EXPLAIN.
static void execute(const request *r, bytes *out) {
    if (r->words[0].length == 7 && strncasecmp(r->words[0].at, "EXPLAIN", 7) == 0) {
        char head[32];
        append(out, head, (size_t)sprintf(head, "$%zu\r\n", strlen(explanation)));
        append(out, explanation, strlen(explanation));
        append(out, "\r\n", 2);
        return;
    }
    todo("execute: take it from your lab 4, and add INCR");
}

// read_and_parse is what the threads do for a client. It touches nothing but the client.
static void read_and_parse(conn *c) {
    c->broken = read_some(c) < 0;
    for (request *r; (r = parse(c)) != NULL;) {
        r->next = NULL;
        if (c->first == NULL) c->first = r;
        else c->last->next = r;
        c->last = r;
    }
}

static void *thread(void *own) {
    share *mine = own;
    for (;;) {
        pthread_mutex_lock(&pool.mutex);
        while (!mine->given) pthread_cond_wait(&pool.given, &pool.mutex);
        mine->given = 0;
        pthread_mutex_unlock(&pool.mutex);
        for (size_t i = 0; i < mine->count; i++) read_and_parse(mine->clients[i]);
        // TODO: this thread has come to the barrier
    }
    return NULL;
}

// run_shares gives each thread its share, works on main's own one, and returns when every thread is done.
static void run_shares(void) {
    pthread_mutex_lock(&pool.mutex);
    for (int i = 1; i < pool.threads; i++) pool.shares[i].given = 1;
    pthread_cond_broadcast(&pool.given);
    pthread_mutex_unlock(&pool.mutex);
    for (size_t i = 0; i < pool.shares[0].count; i++) read_and_parse(pool.shares[0].clients[i]);
    // TODO: wait here until every thread has come to the barrier
}

static void control(int op, int fd, uint32_t events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    if (epoll_ctl(epoll, op, fd, &e) < 0) perror("epoll_ctl");
}

// finish executes what is parsed for a client, writes, and ends the connection or asks for its next events.
static void finish(conn *c) {
    for (request *r = c->first; r != NULL;) {
        request *next = r->next;
        execute(r, &c->output);
        for (size_t i = 0; i < r->count; i++) free(r->words[i].at);
        free(r);
        r = next;
    }
    c->first = c->last = NULL;
    if (c->broken || write_some(c) < 0 || (c->ended && c->output.length == 0)) {
        conns[c->fd] = NULL;
        close(c->fd);
        free(c->input.at);
        free(c->output.at);
        free(c);
        return;
    }
    control(EPOLL_CTL_MOD, c->fd, (c->ended ? 0u : EPOLLIN) | (c->output.length > 0 ? EPOLLOUT : 0u));
}

static void pass(const struct epoll_event *fired, int n) {
    conn *ready[1024];
    size_t count = 0, readable = 0;
    for (int i = 0; i < pool.threads; i++) pool.shares[i].count = 0;
    for (int i = 0; i < n; i++) {
        conn *c = conns[fired[i].data.fd];
        if (fired[i].data.fd == listener) {
            accept_all();
        } else if (c != NULL) {
            ready[count++] = c;
            if ((fired[i].events & ~(uint32_t)EPOLLOUT) == 0) continue;
            share *s = &pool.shares[readable++ % (size_t)pool.threads];
            s->clients[s->count++] = c;
        }
    }
    run_shares();
    for (size_t i = 0; i < count; i++) finish(ready[i]);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int yes = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PORT")))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&to, sizeof to) < 0 || listen(listener, 1024) < 0) {
        perror("listen");
        return 1;
    }
    epoll = epoll_create1(0);
    control(EPOLL_CTL_ADD, listener, EPOLLIN);
    pool.threads = atoi(getenv("IO_THREADS"));
    for (int i = 1; i < pool.threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, thread, &pool.shares[i]) != 0) return 1;
    }
    struct epoll_event fired[1024];
    for (;;) {
        int n = epoll_wait(epoll, fired, 1024, -1);
        if (n > 0) pass(fired, n);
    }
}
