package main

import "log"

func main() { log.Fatal("models needs Linux: it shows the CPU time of single threads") }
