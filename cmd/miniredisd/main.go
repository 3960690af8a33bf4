package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/miniredisd/miniredisd/config"
	"github.com/miniredisd/miniredisd/server"
)

func main() {
	cfg := &config.Config{Bind: []string{"127.0.0.1"}, Port: 6379, MaxClients: 10000, TCPBacklog: 511, TCPKeepAlive: 300}
	for i := 1; i+1 < len(os.Args); i += 2 {
		if os.Args[i] == "--port" {
			cfg.Port, _ = strconv.Atoi(os.Args[i+1])
		}
	}
	s, err := server.New(cfg, func(level byte, format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if err := s.Run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
