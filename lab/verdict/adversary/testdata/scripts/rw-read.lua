local mode=redis.call("hget",KEYS[1],"mode")
if mode==false then
redis.call("hset",KEYS[1],"mode","read") redis.call("hset",KEYS[1],ARGV[2],1) redis.call("pexpire",KEYS[1],ARGV[1]) return nil end
if mode=="read" or mode=="write" and redis.call("hexists",KEYS[1],ARGV[2]..":write")==1 then
redis.call("hincrby",KEYS[1],ARGV[2],1)
redis.call("pexpire",KEYS[1],math.max(redis.call("pttl",KEYS[1]),ARGV[1])) return nil end
return redis.call("pttl",KEYS[1])