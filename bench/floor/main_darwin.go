package main

import "log"

func main() { log.Fatal("floor needs Linux: it shows what epoll and io_uring cost") }
