package repl

// handed is what the outputs of replicas refer to, in its order: pieces of one snapshot. A written piece is used again,
// so that a full synchronization makes no garbage.
type handed struct {
	pieces [][]byte
	bytes  int // of pieces
}

func (h *handed) add(piece []byte) {
	h.pieces = append(h.pieces, piece)
	h.bytes += len(piece)
}

// written returns a piece that no output refers to, or nil. unsent is the most bytes that an output still refers to.
func (h *handed) written(unsent int) []byte {
	if len(h.pieces) == 0 || h.bytes-len(h.pieces[0]) < unsent {
		return nil
	}
	piece := h.pieces[0]
	h.pieces[0] = nil
	h.pieces = h.pieces[1:]
	h.bytes -= len(piece)
	return piece
}
