package luaeval

// binding is how strongly an operator holds its operands (lparser.c: priority).
func binding(operator string) (left, right int) {
	switch operator {
	case "or":
		return 1, 1
	case "and":
		return 2, 2
	case "<", ">", "<=", ">=", "~=", "==":
		return 3, 3
	case "..":
		return 5, 4
	case "+", "-":
		return 6, 6
	case "*", "/", "%":
		return 7, 7
	case "^":
		return 10, 9
	}
	return 0, 0
}

const unary = 8 // binding of an operator with one operand

func (g *grammar) expr(limit int) {
	g.enter()
	switch g.kind {
	case "not", "-", "#":
		g.advance()
		g.expr(unary)
	default:
		g.simple()
	}
	for left, right := binding(g.kind); left > limit; left, right = binding(g.kind) {
		g.advance()
		g.expr(right)
	}
	g.levels--
}

func (g *grammar) simple() {
	switch line := g.line; g.kind {
	case aNumber, aString, "nil", "true", "false":
	case "...":
		if !g.variadic {
			g.fail("cannot use '...' outside a vararg function")
		}
	case "{":
		g.constructor()
		return
	case "function":
		g.advance()
		g.body(line)
		return
	default:
		g.primary()
		return
	}
	g.advance()
}

// What primary has read.
const (
	isVariable = iota
	isCall
	isOther
)

func (g *grammar) primary() (kind int) {
	switch line := g.line; g.kind {
	case aName:
		g.advance()
	case "(":
		g.advance()
		g.expr(0)
		g.closes(")", "(", line)
		kind = isOther
	default:
		g.fail("unexpected symbol")
	}
	for {
		switch g.kind {
		case ".":
			g.advance()
			g.take(aName)
			kind = isVariable
		case "[":
			g.index()
			kind = isVariable
		case ":":
			g.advance()
			g.take(aName)
			g.arguments()
			kind = isCall
		case "(", aString, "{":
			g.arguments()
			kind = isCall
		default:
			return kind
		}
	}
}

func (g *grammar) index() {
	g.take("[")
	g.expr(0)
	g.take("]")
}

func (g *grammar) arguments() {
	switch line := g.line; g.kind {
	case "(":
		if line != g.last {
			g.fail("ambiguous syntax (function call x new statement)")
		}
		if g.advance(); g.kind != ")" {
			g.list()
		}
		g.closes(")", "(", line)
	case "{":
		g.constructor()
	case aString:
		g.advance()
	default:
		g.fail("function arguments expected")
	}
}

func (g *grammar) constructor() {
	line := g.line
	for g.take("{"); g.kind != "}"; {
		switch {
		case g.kind == "[":
			g.index()
			g.take("=")
		case g.kind == aName && g.peek() == "=":
			g.advance()
			g.advance()
		}
		g.expr(0)
		if !g.test(",") && !g.test(";") {
			break
		}
	}
	g.closes("}", "{", line)
}

// peek returns the kind of the token after the current one.
func (g *grammar) peek() string {
	if g.next == nil {
		next := g.lexer
		next.advance()
		g.next = &next
	}
	return g.next.kind
}
