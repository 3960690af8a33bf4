package main

import "strings"

// realScriptRows are scripts as libraries send them: rate limiters, locks, queues, caches. Each has the
// commands and the structure of its model, in words of our own.
func realScriptRows() []breadthRow {
	var rows []breadthRow
	add := func(name, lua, keysAndArgs string, fill ...data) {
		row := script("EVAL "+name, 15_000, lua, strings.Fields(keysAndArgs)...)
		row.data = fill
		rows = append(rows, row)
	}
	limiterScripts(add)
	lockScripts(add)
	queueScripts(add)
	cacheScripts(add)
	return rows
}

type addScript func(name, lua, keysAndArgs string, fill ...data)

func limiterScripts(add addScript) {
	add("fixed window", `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {n, redis.call('PTTL', KEYS[1])}`, "1 window 60000")
	add("sliding window", `local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ms - ARGV[1])
local used = redis.call('ZCARD', KEYS[1])
if used >= tonumber(ARGV[2]) then return {0, used} end
redis.call('ZADD', KEYS[1], ms, ms .. '-' .. now[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {1, used + 1}`, "1 slide 1000 100")
	add("token bucket", `local b = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local rate, size, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tokens, at = tonumber(b[1]) or size, tonumber(b[2]) or now
tokens = math.min(size, tokens + math.max(0, now - at) * rate)
local granted = tokens >= 1
if granted then tokens = tokens - 1 end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(size / rate * 1000))
return {granted and 1 or 0, tostring(tokens)}`, "1 bucket 0.5 100 1700000000")
	add("cell rate", `local now, step, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local at = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local next = at + step
local wait = next - burst - now
if wait > 0 then return {1, tostring(wait)} end
redis.call('SET', KEYS[1], next, 'PX', 60000)
return {0, '0'}`, "1 cell 1700000000 0.001 1000")
}

func lockScripts(add addScript) {
	add("extend a lock", `if redis.call('GET', KEYS[1]) == ARGV[1] then
return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`, "1 lock token 30000", once("SET", "lock", "token"))
	add("reentrant lock", `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
redis.call('HINCRBY', KEYS[1], ARGV[2], 1) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return nil end
return redis.call('PTTL', KEYS[1])`, "1 rlock 30000 6b1e9bd4:1")
	add("reentrant unlock", `if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) return 0 end
redis.call('DEL', KEYS[1]) redis.call('PUBLISH', KEYS[2], 0) return 1`,
		"2 rlock unlocked 30000 6b1e9bd4:1", once("HSET", "rlock", "6b1e9bd4:1", "100000000"))
	add("read lock", `local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == false then redis.call('HSET', KEYS[1], 'mode', 'read', ARGV[2], 1)
elseif mode == 'read' or redis.call('HEXISTS', KEYS[1], ARGV[2] .. ':write') == 1 then
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
else return redis.call('PTTL', KEYS[1]) end
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), ARGV[1]))
return nil`, "1 rwlock 30000 6b1e9bd4:1")
	add("semaphore", `redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - 10000)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) and not redis.call('ZSCORE', KEYS[1], ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) return 1`, "1 sem 1700000000 holder-1 20")
}

func queueScripts(add addScript) {
	jobs := listOf("wait", 20_000)
	add("add a job", `local id = redis.call('INCR', KEYS[1])
local job = KEYS[2] .. ':' .. id
redis.call('HMSET', job, 'name', ARGV[1], 'data', ARGV[2], 'timestamp', ARGV[3], 'delay', 0, 'priority', 0)
redis.call('PEXPIRE', job, 1000)
redis.call('LPUSH', KEYS[3], id)
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'event', 'added', 'jobId', id, 'name', ARGV[1])
return id .. ''`, `4 id job wait events mail {"to":"a@b.c","tries":3} 1700000000000`)
	add("take a job", `local id = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
if not id then return {} end
local job = KEYS[3] .. ':' .. id
redis.call('SET', job .. ':lock', ARGV[1], 'PX', 1000)
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'event', 'active', 'jobId', id)
redis.call('HSET', KEYS[5], 'processedOn', ARGV[2])
return {redis.call('HGETALL', KEYS[5]), id}`, "5 wait active job events job:1 token 1700000000000", jobs,
		once("HSET", "job:1", "name", "mail", "data", "{}", "timestamp", "1700000000000", "priority", "0"))
	add("finish a job", `local id = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
if not id or redis.call('LREM', KEYS[2], 1, id) == 0 then return -1 end
redis.call('ZADD', KEYS[3], ARGV[1], id)
redis.call('HMSET', KEYS[4], 'returnvalue', ARGV[2], 'finishedOn', ARGV[1])
local old = redis.call('ZREVRANGE', KEYS[3], 100, -1)
for _, o in ipairs(old) do redis.call('DEL', 'job:' .. o) end
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -101)
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 10000, '*', 'event', 'completed', 'jobId', id, 'returnvalue', ARGV[2])
return 0`, "5 wait active completed job:1 events 1700000000000 {}", jobs)
	add("promote delayed jobs", `local due = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 10)
for _, id in ipairs(due) do
redis.call('ZREM', KEYS[1], id) redis.call('LPUSH', KEYS[2], id) redis.call('ZADD', KEYS[1], ARGV[1], id) end
redis.call('LTRIM', KEYS[2], 0, 99)
return #due`, "2 delayed wait 100000", zsetOf("delayed", 100))
}

func cacheScripts(add addScript) {
	add("map cache put", `local old = redis.call('HGET', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[1] + 60000, ARGV[2])
redis.call('HSET', KEYS[1], ARGV[2], struct.pack('dLc0', 0, #ARGV[3], ARGV[3]))
if old == false then
redis.call('PUBLISH', KEYS[3], struct.pack('Lc0Lc0', #ARGV[2], ARGV[2], #ARGV[3], ARGV[3]))
return nil end
local idle, value = struct.unpack('dLc0', old)
return value`, "3 map timeouts created 1700000000000 field value-of-the-map")
	add("map cache get", `local packed = redis.call('HGET', KEYS[1], ARGV[2])
if packed == false then
packed = struct.pack('dLc0', 60000, 5, 'hello') redis.call('HSET', KEYS[1], ARGV[2], packed)
redis.call('ZADD', KEYS[2], ARGV[1] + 60000, ARGV[2]) end
local idle, value = struct.unpack('dLc0', packed)
local dies = redis.call('ZSCORE', KEYS[2], ARGV[2])
if dies and tonumber(dies) <= tonumber(ARGV[1]) then return nil end
if idle ~= 0 then redis.call('ZADD', KEYS[3], idle + ARGV[1], ARGV[2]) end
return value`, "3 map timeouts idle 1700000000000 field")
	add("map cache sweep", `local due = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[1], 'LIMIT', 0, ARGV[2])
for _, field in ipairs(due) do redis.call('HGET', KEYS[1], field) redis.call('ZSCORE', KEYS[2], field) end
if #due > 0 then redis.call('HDEL', KEYS[1], unpack(due)) end
return #due`, "2 h100 z1000 100000 50", hashOf("h100", 100), zsetOf("z1000", 1_000))
	add("leaderboard", `redis.call('ZADD', KEYS[1], 'GT', ARGV[1], ARGV[2])
local rank = redis.call('ZREVRANK', KEYS[1], ARGV[2])
return {rank, redis.call('ZREVRANGE', KEYS[1], math.max(0, rank - 5), rank + 5, 'WITHSCORES')}`,
		"1 z1000 700 member-500", zsetOf("z1000", 1_000))
	add("tagged entries", `local n = 0
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do n = n + redis.call('UNLINK', key) end
return n`, "1 tag", setOf("tag", 20))
	add("versioned document", `local doc = cjson.decode(redis.call('GET', KEYS[1]))
if doc.version > tonumber(ARGV[1]) then return redis.error_reply('CONFLICT') end
doc.owner = ARGV[2] doc.tags[1] = ARGV[2]
redis.call('SET', KEYS[1], cjson.encode(doc))
return doc.version`, "1 doc 7 somebody", once("SET", "doc", `{"version":7,"owner":"me","tags":["a","b"],"size":1.5}`))
	add("count by bits", `redis.call('SETBIT', KEYS[1], ARGV[1], 1)
redis.call('PFADD', KEYS[2], ARGV[2])
return {redis.call('BITCOUNT', KEYS[1]), redis.call('PFCOUNT', KEYS[2])}`, "2 seen visitors 1000 somebody")
}
