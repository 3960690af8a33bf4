package config

const defaultMultiplexer = "epoll"
