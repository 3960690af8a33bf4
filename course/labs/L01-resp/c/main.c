// Lab 1: RESP by hand. Fill in parse and execute.
//
//  a request         *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n
//  a simple string   +OK\r\n
//  an error          -ERR unknown command\r\n
//  a bulk string     $5\r\nhello\r\n
//  no value          $-1\r\n
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// bytes are bytes of any value: a word may have zero bytes in it, so nothing here ends with one.
typedef struct {
    char *at;
    size_t length;
} bytes;

enum { MOST_WORDS = 16 };

// parse finds the first request in buffer. It points words into buffer, and returns how many there are. taken is
// the length of the request. It returns 0 while the request is not complete.
static size_t parse(bytes buffer, bytes words[MOST_WORDS], size_t *taken) {
    // TODO
    (void)buffer;
    (void)words;
    *taken = 0;
    return 0;
}

// append adds bytes to b.
static void append(bytes *b, const char *at, size_t length) {
    b->at = realloc(b->at, b->length + length + 1);
    if (b->at == NULL) abort();
    memcpy(b->at + b->length, at, length);
    b->length += length;
}

// execute executes a command, and appends the reply to out. Where the values are is up to you.
static void execute(const bytes *words, size_t count, bytes *out) {
    (void)count;
    if (words[0].length == 4 && strncasecmp(words[0].at, "PING", 4) == 0) {
        append(out, "+PONG\r\n", 7);
    }
    // TODO: ECHO, SET, GET, and an error for everything else
}

// serve serves one client until it leaves.
static void serve(int fd) {
    bytes input = {0}, output = {0}, words[MOST_WORDS];
    char chunk[4096];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) {
        append(&input, chunk, (size_t)n);
        size_t count, taken, done = 0;
        while ((count = parse((bytes){input.at + done, input.length - done}, words, &taken)) > 0) {
            execute(words, count, &output);
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
        if (fd >= 0) serve(fd);
    }
}
