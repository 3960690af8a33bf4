package grade

// lab04Students has no program here: epoll is Linux's.
func lab04Students() map[string]func() { return nil }
