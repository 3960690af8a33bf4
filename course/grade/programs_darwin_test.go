package grade

// The programs of these labs use epoll, which is Linux's.

func lab04Students() map[string]func() { return nil }

func lab12Students() map[string]func() { return nil }
