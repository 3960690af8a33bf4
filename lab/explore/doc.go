// Package explore finds the failure that breaks a lock. It runs a program again and again, each time
// with one failure at one place, until all of them are tried or the time is over.
package explore
