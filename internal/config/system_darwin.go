package config

const defaultMultiplexer = "poll"
