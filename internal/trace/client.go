package trace

// Client is what a client looks like at a point, for the snapshot of a stop. Sizes are in bytes.
type Client struct {
	ID       int64    `json:"id"`
	Name     string   `json:"name"`
	FD       int      `json:"fd"`
	Addr     string   `json:"addr"`
	RecvQ    int      `json:"recvq"`    // in the socket, not read
	SendQ    int      `json:"sendq"`    // in the socket, not acknowledged
	Buffered int      `json:"buffered"` // read, and no complete command yet
	Commands int      `json:"commands"` // parsed, and not executed yet
	Output   int      `json:"output"`
	State    string   `json:"state"` // idle readable reading executing blocked held paused full closing
	On       string   `json:"on"`    // the key or rule that it waits for
	Multi    int      `json:"multi"` // commands that MULTI has queued, -1 outside
	Watch    int      `json:"watch"` // keys
	DB       int      `json:"db"`
	Partial  string   `json:"partial"`
	Next     []string `json:"next"` // the commands that wait, at most 4
	Out      string   `json:"out"`  // the first bytes of the output
	Thread   int      `json:"thread"`
	Role     string   `json:"role,omitempty"` // replica, or master for the link of a replica
}
