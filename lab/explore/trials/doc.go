// Package trials plays the trials of explore with processes: a command runs again and again, each time with
// private servers of its own.
//
//	Run ──┬── explore.Explorer    what to run next, and what it has shown
//	      ├── course/stage        a server, or several masters, for each trial
//	      └── program             the command, in a process group of its own
//
// A program finds the servers by its environment: REDIS_URL, REDIS_HOST and REDIS_PORT, MINIREDISD_PORT, and
// REDIS_URLS for several masters.
//
// The program is a stranger. Its output is kept up to a bound, and nobody reads the rest. When a trial is over,
// its process group is killed, and so are all processes that carry the trial's mark in their environment. On Linux
// this process also adopts what the program leaves behind.
package trials
