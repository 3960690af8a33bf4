// Package orphans ends the processes that a program has started and left behind. A tool that runs programs which
// it does not know uses it: the program may fork, change its group or its session, and end before its children.
package orphans
